#!/bin/bash
# A compiler for RUSTC_WORKSPACE_WRAPPER: the lints' driver. A library's lints come with its tests, which are the same code
# once more: the library by itself is compiled without, which takes a fifth less.
# By bash: sh may drop variables like CARGO_BIN_EXE_nicteam-oracle-agent.
case " $* " in
*" --test "*) exec clippy-driver "$@" ;;
*" --crate-type lib "*) exec "$@" ;;
*) exec clippy-driver "$@" ;;
esac
