#!/bin/bash
# Makes the Debian package: target/debian/nicteam_VERSION_ARCH.deb.
# Usage: scripts/deb.sh [--binary PROGRAM] [--version VERSION] [--output FOLDER] [--compression KIND]
#   --binary       the program to pack; else target/release/nicteam
#   --version      the package's version; else the workspace's
#   --compression  xz, gzip or none
set -euo pipefail
cd "$(dirname "$0")/.."

binary=${CARGO_TARGET_DIR:-target}/release/nicteam
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
output=${CARGO_TARGET_DIR:-target}/debian
compression=xz
while [ $# -gt 0 ]; do
    case "$1" in
    --binary) binary=$2 ;;
    --version) version=$2 ;;
    --output) output=$2 ;;
    --compression) compression=$2 ;;
    *)
        sed -n '2,6s/^# //p' "$0" >&2
        exit 2
        ;;
    esac
    shift 2
done
for tool in dpkg-deb dpkg objdump strip gzip; do
    command -v "$tool" >/dev/null || {
        echo "deb: no $tool; hint: apt-get install dpkg binutils gzip" >&2
        exit 3
    }
done
[ -x "$binary" ] || {
    echo "deb: no program $binary; hint: make build" >&2
    exit 2
}

# The libraries that the program asks for, and the newest symbols of libc among them: what `Depends` has to say.
depends_of() {
    local libraries other newest
    libraries=$(objdump -p "$1" | sed -n 's/^ *NEEDED *//p')
    other=$(grep -Ev '^(libc|libm|libgcc_s|libelf|libz|libdl|libpthread|librt|ld-linux.*)\.so' <<<"$libraries" || :)
    [ -z "$other" ] || {
        echo "deb: no package is known for: $other" >&2
        exit 1
    }
    newest=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -1)
    echo -n "libc6 (>= ${newest:-2.36})"
    grep -q '^libgcc_s' <<<"$libraries" && echo -n ", libgcc-s1" || :
    # Of Debian 13 libelf1t64, which provides it.
    grep -q '^libelf' <<<"$libraries" && echo -n ", libelf1" || :
    grep -q '^libz' <<<"$libraries" && echo -n ", zlib1g" || :
    # groupadd, which postinst calls.
    echo -n ", passwd"
}

arch=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
date=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}

put() { # MODE SOURCE DESTINATION
    install -D -m "$1" "$2" "$root/$3"
}
zipped() { # SOURCE DESTINATION
    mkdir -p "$root/$(dirname "$2")"
    gzip -9 -n -c "$1" >"$root/$2.gz"
}

put 755 "$binary" usr/bin/nicteam
strip --strip-debug "$root/usr/bin/nicteam"
put 644 packaging/nicteam@.service usr/lib/systemd/system/nicteam@.service
put 755 packaging/nicteam-generator usr/lib/systemd/system-generators/nicteam-generator
put 644 packaging/nicteam-metrics.service usr/lib/systemd/system/nicteam-metrics.service
put 644 packaging/README etc/nicteam/README
doc=usr/share/doc/nicteam
put 644 packaging/team0.toml $doc/examples/team0.toml
put 644 packaging/prometheus/nicteam.rules.yml $doc/examples/prometheus/nicteam.rules.yml
put 644 packaging/grafana/nicteam.json $doc/examples/grafana/nicteam.json
for file in docs/*.md docs/*.json docs/guide/*.md docs/design/*.md; do
    put 644 "$file" "$doc/${file#docs/}"
done
zipped CHANGELOG.md $doc/changelog
{
    while IFS= read -r line; do
        case "$line" in
        @MIT@) sed 's/^$/./; s/^/ /' LICENSE-MIT ;;
        *) echo "$line" ;;
        esac
    done <packaging/debian/copyright
} >"$root/$doc/copyright"
cargo tree --locked --offline -p nicteam -e normal --prefix none --format '{p}: {l}' |
    sed 's/ (\*)$//; s/ ([^)]*)//' | grep -v '^nicteam' | sort -u >"$root/$doc/THIRD-PARTY"

completions() { # SHELL DESTINATION
    mkdir -p "$root/$(dirname "$2")"
    "$binary" completions "$1" >"$root/$2"
}
# Made by the program itself.
completions bash usr/share/bash-completion/completions/nicteam
completions zsh usr/share/zsh/vendor-completions/_nicteam
completions fish usr/share/fish/vendor_completions.d/nicteam.fish
"$binary" man "$root/usr/share/man/man1"
gzip -9 -n "$root"/usr/share/man/man1/*.1

mkdir "$root/DEBIAN"
size=$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)
sed "s/@VERSION@/$version/; s/@ARCH@/$arch/; s/@SIZE@/$size/; s/@DEPENDS@/$(depends_of "$binary")/" \
    packaging/debian/control.in >"$root/DEBIAN/control"
install -m 644 packaging/debian/conffiles "$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do
    install -m 755 packaging/debian/$script "$root/DEBIAN/$script"
done
(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\n' | sort | xargs -d '\n' md5sum >DEBIAN/md5sums)
find "$root" -type d -exec chmod 755 {} +
find "$root" -newermt "@$date" -exec touch -h -d "@$date" {} +

mkdir -p "$output"
package=$output/nicteam_${version}_$arch.deb
SOURCE_DATE_EPOCH=$date dpkg-deb --root-owner-group -Z"$compression" -b "$root" "$package" >/dev/null
echo "$package"
