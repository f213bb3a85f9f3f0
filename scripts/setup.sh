#!/bin/sh
# Installs the Debian packages that a step needs and that are not there.
# Usage: scripts/setup.sh build|storage|test|accept|bench|python
# The guests' kernels that crates/oracle needs are not installed: it fetches the
# packages into the user's cache.
set -eu

build="gcc make clang libelf-dev zlib1g-dev pkg-config"
storage="tgt libiscsi7 nfs-ganesha nfs-ganesha-vfs rpcbind fio"
test="$storage iproute2 nftables iputils-ping iperf3 openvswitch-switch qemu-system-x86 systemd ifupdown netplan.io tcpdump tshark libteam-utils"
# Whose services would be in the way: installed without being started, and not enabled.
silent="prometheus openssh-server"
# Not in every Debian: what they are for is left out there, by name.
optional="softether-vpncmd"
accept="mmdebstrap e2fsprogs"

case "${1:-}" in
build) wanted=$build ;;
storage) wanted="$build $storage" ;;
python) wanted="$build python3-venv" ;;
test) wanted="$build $test $silent" ;;
accept | bench) wanted="$build $test $silent $accept" ;;
*)
    echo "usage: $0 build|storage|test|accept|bench|python" >&2
    exit 2
    ;;
esac

command -v cargo >/dev/null || {
    echo "setup: no cargo; hint: install a Rust toolchain with rustup" >&2
    exit 3
}
command -v dpkg-query >/dev/null || {
    echo "setup: no Debian here; install what corresponds to: $wanted" >&2
    exit 0
}

is_installed() {
    dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed
}
install() {
    echo "setup: installing$1" >&2
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $1 >/dev/null
}

# The same, and no service of theirs runs now or after the next boot.
install_silently() {
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT INT TERM
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
    fi
    install "$1"
    for service in $1; do
        [ "$service" != openssh-server ] || service=ssh
        systemctl disable --quiet "$service" 2>/dev/null || :
    done
}

missing=
for package in $wanted; do
    is_installed "$package" || missing="$missing $package"
done
if [ -n "$missing" ] && [ "$(id -u)" -ne 0 ]; then
    echo "setup: these packages are missing:$missing" >&2
    echo "hint: sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 3
fi
if [ -n "$missing" ]; then
    apt-get update -qq
    loud= quiet=
    for package in $missing; do
        case " $silent " in
        *" $package "*) quiet="$quiet $package" ;;
        *) loud="$loud $package" ;;
        esac
    done
    [ -z "$loud" ] || install "$loud"
    [ -z "$quiet" ] || install_silently "$quiet"
fi

case "$1" in test | accept | bench) ;; *) exit 0 ;; esac
[ "$(id -u)" -eq 0 ] || exit 0
for package in $optional; do
    if ! is_installed "$package" && apt-cache show "$package" >/dev/null 2>&1; then
        install " $package"
    fi
done
