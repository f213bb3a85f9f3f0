#!/bin/bash
# A compiler for RUSTC_WORKSPACE_WRAPPER: the lints' driver. A library's lints come with its tests, which are the same code
# once more: the library by itself is compiled without, which takes a fifth less. A library without tests of its own
# (`test = false`) has no such second time. Tests are not optimized, only the libraries that they call.
# Programs are at fixed addresses: tests start programs thousands of times, and relocating one takes half of its start.
# By bash: sh may drop variables like CARGO_BIN_EXE_nicteam-oracle-agent.
case " $* " in
*" --test "*) exec clippy-driver "${@/#opt-level=[123]/opt-level=0}" -C relocation-model=static ;;
*" --crate-type bin "*) exec clippy-driver "$@" -C relocation-model=static ;;
*" --crate-type lib "*) grep -qx 'test = false' "$CARGO_MANIFEST_DIR/Cargo.toml" || exec "$@" ;;
esac
exec clippy-driver "$@"
