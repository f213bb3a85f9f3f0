"""Ways of a frame through the team device, by programs that only redirect to one member: what differs between two
ways is what the device costs.

Without arguments, in a guest whose clock counts instructions: what a frame takes by each kind of team device, and
what the kinds differ in. One line a figure: `count WAY DIRECTION SIZE INSTRUCTIONS`, `check KIND VALUE WHAT`.

With `WAY GSO_MAX_SEGS`, on a host: a team device `team0` of the member `eth0`, `direct` or `behind`. Both hang on
TCX, whose programs stay when this ends.
"""

import ctypes
import os
import socket
import struct
import subprocess
import time

# Interface indexes: the near end of the cable (the member), the team device, the end behind it.
MEMBER, TEAM, BEHIND = 101, 110, 111
PACKETS, GSO_FRAMES = 20000, 500
PINS = "/sys/fs/bpf/"
# Attach types of bpf(2).
TCX_INGRESS, TCX_EGRESS, NETKIT_PRIMARY = 46, 47, 54
SCHED_CLS, XDP = 3, 6
# Queues of a device in whose `queue_id` frames can be marked.
QUEUES = 17

libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attributes):
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    done = libc.syscall(321, command, buffer, len(attributes))
    if done < 0:
        raise OSError(ctypes.get_errno(), f"bpf command {command}")
    return done


def load(kind, instructions):
    code = b"".join(struct.pack("=BBhi", *one) for one in instructions)
    code, licence = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(b"GPL")
    attributes = struct.pack(
        "=IIQQIIQII16s", kind, len(instructions), ctypes.addressof(code), ctypes.addressof(licence), 0, 0, 0, 0, 0, b""
    )
    return bpf(5, attributes)


def pin(name, program):
    path = ctypes.create_string_buffer((PINS + name).encode())
    if os.path.exists(PINS + name):
        os.remove(PINS + name)
    bpf(6, struct.pack("=QII", ctypes.addressof(path), program, 0))
    return program


def redirect(index, flags=0):
    # bpf_redirect(index, flags)
    return load(SCHED_CLS, [(0xB7, 1, 0, index), (0xB7, 2, 0, flags), (0x85, 0, 0, 23), (0x95, 0, 0, 0)])


def attach(program, index, point):
    bpf(8, struct.pack("=IIIIIIQ", index, program, point, 0, 0, 0, 0))


def run(command):
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return done.stdout


def read(path):
    with open(path) as file:
        return file.read().strip()


def tc_filter(device, side, program):
    run(f"tc qdisc add dev {device} clsact")
    run(f"tc filter add dev {device} {side} pref 2 bpf da pinned {PINS}{program}")


def cable():
    one = "numtxqueues 1 numrxqueues 1"
    run(f"ip link add a0 index {MEMBER} {one} type veth peer name b0 {one}")
    for end in ("a0", "b0"):
        run(f"ip link set {end} up")


def pair(kind, queues=1):
    """The team device of a kind and the end behind it, which sends by one queue."""
    first, behind = f"index {TEAM} numtxqueues {queues} numrxqueues 1", f"peer name team0-dp index {BEHIND}"
    if kind == "veth":
        run(f"ip link add team0 {first} type veth {behind} numtxqueues 1 numrxqueues 1")
    else:
        run(f"ip link add team0 {first} type netkit mode l2 {behind}")
    for end in ("team0", "team0-dp"):
        run(f"ip link set {end} up")


def team(way):
    """A team of one member: what it sends is redirected there, what that receives to the team device."""
    pair("netkit" if way.startswith("netkit") else "veth", QUEUES if way.endswith("queues") else 1)
    if way == "direct":
        tc_filter("team0", "egress", "to_member")
    elif way == "veth":
        tc_filter("team0-dp", "ingress", "to_member")
    else:
        attach(PROGRAMS["to_member"], *((BEHIND, TCX_INGRESS) if way == "veth-tcx" else (TEAM, NETKIT_PRIMARY)))
    tc_filter("a0", "ingress", "up" if way == "direct" else "to_behind")


def generated(device, size, received_by):
    """Instructions a packet, of the kernel's packet generator."""
    settings = f"count {{}}|clone_skb 0|pkt_size {size}|delay 0|xmit_mode queue_xmit|dst_mac 02:00:00:00:00:01"
    settings += "|src_min 10.0.0.1|src_max 10.0.0.1|dst 10.0.0.2|udp_src_min 1000|udp_src_max 2000"
    for packets in (100, PACKETS):
        lines = ["kpktgend_0 rem_device_all", f"kpktgend_0 add_device {device}"]
        lines += [f"{device} {setting}" for setting in settings.format(packets).split("|")] + ["pgctrl start"]
        before = int(read(f"/sys/class/net/{received_by}/statistics/rx_packets"))
        for line in lines:
            file, text = line.split(" ", 1)
            with open(f"/proc/net/pktgen/{file}", "w") as pktgen:
                pktgen.write(text + "\n")
        arrived = int(read(f"/sys/class/net/{received_by}/statistics/rx_packets")) - before
    if arrived < PACKETS:
        raise RuntimeError(f"{arrived} of {PACKETS} packets sent by {device} arrived at {received_by}")
    elapsed_us = read(f"/proc/net/pktgen/{device}").split("Result: OK: ")[1].split("(")[0]
    return int(elapsed_us) * 1000 / PACKETS


def packet_socket(device):
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    packets.bind((device, 0x0800))
    return packets


def frame(size, protocol):
    addresses = bytes.fromhex("020000000001020000000002") + b"\x08\x00"
    ip = struct.pack("!BBHHHBBH8s", 0x45, 0, size - 14, 0, 0x4000, 64, protocol, 0, bytes([10, 0, 0, 1, 10, 0, 0, 2]))
    transport = struct.pack("!HHIIBBHHH", 1024, 1280, 0, 0, 0x50, 0x10, 0, 0, 0)
    return (addresses + ip + transport).ljust(size, b"\0")


def sent_whole(device, received_by):
    """Instructions a GSO frame of 65,000 bytes, of a packet socket."""
    packets = packet_socket(device)
    packets.setsockopt(263, 15, 1)  # SOL_PACKET, PACKET_VNET_HDR
    # Needs a checksum; TCP over IPv4 in segments of 1,448 bytes.
    whole = struct.pack("=BBHHHH", 1, 1, 54, 1448, 34, 16) + frame(65000, 6)
    before = int(read(f"/sys/class/net/{received_by}/statistics/rx_packets"))
    for _ in range(50):
        packets.send(whole)
    start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    for _ in range(GSO_FRAMES):
        packets.send(whole)
    elapsed_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - start
    arrived = int(read(f"/sys/class/net/{received_by}/statistics/rx_packets")) - before
    if not GSO_FRAMES <= arrived < 2 * GSO_FRAMES:
        raise RuntimeError(f"{arrived} of {GSO_FRAMES} GSO frames sent by {device} arrived at {received_by}")
    return elapsed_ns / GSO_FRAMES


def count(way):
    cable()
    if way != "cable":
        team(way)
    time.sleep(0.3)
    # The direct way's redirect is not counted by the team device.
    upper = "a0" if way in ("cable", "direct") else "team0"
    for direction, device, received_by in (("send", "a0" if way == "cable" else "team0", "b0"), ("receive", "b0", upper)):
        for size in (60, 1514):
            print("count", way, direction, size, generated(device, size, received_by))
        print("count", way, direction, "gso", sent_whole(device, received_by))
    clean(way != "cable")


def clean(with_team):
    for device in ["team0"] * with_team + ["a0"]:
        run(f"ip link del {device}")


def succeeds(command):
    try:
        run(command)
    except RuntimeError:
        return "no"
    return "yes"


def check(kind):
    cable()
    team(kind)
    say = lambda value, what: print("check", kind, value, what)
    say(succeeds(f"ip link set dev team0 xdpdrv pinned {PINS}pass"), "native XDP on the team device")
    subprocess.run("ip link set dev team0 xdpdrv off", shell=True)
    say(succeeds("ethtool -L team0 tx 1"), "number of queues changed while it exists")
    say("yes" if subprocess.run("ethtool team0 | grep -q Speed:.*Mb", shell=True).returncode == 0 else "no", "a speed")
    run("tc qdisc add dev a0 root handle 9: prio bands 3 priomap 2 2 2 2 2 0 2 2 2 2 2 2 2 2 2 2")
    sender = packet_socket("team0")
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 5)
    for _ in range(10):
        sender.send(frame(100, 17))
    time.sleep(0.2)
    first = run("tc -s class show dev a0").split("9:1 ")[1]
    say("yes" if int(first.split(" pkt")[0].split()[-1]) >= 10 else "no", "a frame's priority at the member, as sent")
    for device in ("a0", "b0"):
        run(f"ip link set {device} mtu 9000")
    before = int(read("/sys/class/net/team0/statistics/rx_packets"))
    sender = packet_socket("b0")
    for _ in range(10):
        sender.send(frame(4000, 17))
    time.sleep(0.2)
    longer = int(read("/sys/class/net/team0/statistics/rx_packets")) - before
    say("yes" if longer >= 10 else "no", "frames longer than the team's MTU received")
    clean(True)


def quiet():
    """Stops who looks at every new device, and would be counted with the packets."""
    units = "systemd-networkd.socket systemd-networkd systemd-udevd-control.socket systemd-udevd-kernel.socket"
    subprocess.run(f"systemctl stop {units} systemd-udevd", shell=True, stderr=subprocess.DEVNULL)
    for of in ("all", "default"):
        with open(f"/proc/sys/net/ipv6/conf/{of}/disable_ipv6", "w") as disable:
            disable.write("1")
    for module in ("veth", "pktgen"):
        run(f"modprobe {module}")


quiet()
PROGRAMS = {"to_member": redirect(MEMBER), "to_behind": redirect(BEHIND), "up": redirect(TEAM, 1)}
for name, program in PROGRAMS.items():
    pin(name, program)
pin("pass", load(XDP, [(0xB7, 0, 0, 2), (0x95, 0, 0, 0)]))
for way in ("cable", "direct", "veth", "veth-tcx", "netkit", "netkit-queues"):
    count(way)
for kind in ("veth", "netkit"):
    check(kind)
