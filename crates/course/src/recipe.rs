//! What the Debian of the guest is made of. Whatever changes here makes a new image.

/// The name of a release of Debian.
pub(super) const fn suite(release: u8) -> &'static str {
    match release {
        12 => "bookworm",
        13 => "trixie",
        _ => panic!("a release of Debian without a name here"),
    }
}

/// Packages beside those that Debian always has: its kernel for virtual machines, those who manage networks, and what
/// looks at them.
pub(super) const PACKAGES: [&str; 15] = [
    "linux-image-cloud-amd64",
    "systemd-sysv",
    "udev",
    "dbus",
    "kmod",
    "iproute2",
    "ifupdown",
    "netplan.io",
    "network-manager",
    "ethtool",
    "bpftool",
    "procps",
    "iputils-ping",
    "qemu-guest-agent",
    "busybox-static",
];

/// What nobody reads in a guest, and what would make a first file system that is not used.
pub(super) const LEFT_OUT: [&str; 4] =
    ["/usr/share/man/*", "/usr/share/locale/*", "/usr/share/doc/*", "/etc/kernel/postinst.d/initramfs-tools"];

/// Files of the guest.
pub(super) const FILES: [(&str, &str); 5] = [
    ("etc/hostname", "guest\n"),
    ("etc/hosts", "127.0.0.1 localhost guest\n"),
    // Ready, or every boot would be a first one.
    ("etc/machine-id", "0123456789abcdef0123456789abcdef\n"),
    // Room for what arrives while an emulated processor stands still, as the TAPs outside have.
    ("etc/sysctl.d/90-backlog.conf", "net.core.netdev_max_backlog = 10000\n"),
    ("etc/network/interfaces", "source /etc/network/interfaces.d/*\n"),
];

/// What is done in the guest's root, once: networkd instead of NetworkManager, and nothing started that has no part in
/// this: an emulated processor takes seconds for each.
pub(super) const SCRIPT: &str = r#"
set -e
systemctl --quiet enable systemd-networkd.service
systemctl --quiet mask \
    NetworkManager.service NetworkManager-dispatcher.service NetworkManager-wait-online.service \
    systemd-networkd-wait-online.service \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
    systemd-tmpfiles-clean.timer systemd-pstore.service systemd-binfmt.service \
    dev-hugepages.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount \
    getty@tty1.service serial-getty@ttyS0.service
"#;

/// Modules without which the kernel does not find its disk.
pub(super) const MODULES: [&str; 2] = ["virtio_pci", "virtio_blk"];

/// First process of the guest's kernel, until it has its disk. `/modules` is in the order in which they need one another.
pub(super) const INIT: &str = r#"#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
while read -r module; do /bin/busybox insmod "$module"; done </modules
/bin/busybox mount -t ext4 -o noatime /dev/vda /root
/bin/busybox umount /dev
exec /bin/busybox switch_root /root /sbin/init
"#;
