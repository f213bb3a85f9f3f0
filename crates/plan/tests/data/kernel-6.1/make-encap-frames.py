#!/usr/bin/env python3
"""Writes encap-frames.pcap and encap-kinds.txt (one word a frame) into the
current folder: frames in tunnels, under several tags, and of all protocols
that the kernel's flow dissector knows. The last 8 bytes are as in make-frames.py.
"""

import pathlib
import runpy
import struct

COUNT = 1800
base = runpy.run_path(str(pathlib.Path(__file__).with_name("make-frames.py")))
rng = base["rng"]
rng.seed(62)
raw, mac, ip4, ip6, some4, some6 = (base[name] for name in ("raw", "mac", "ip4", "ip6", "some4", "some6"))
transport, icmp, v4, v6, tag, cut = (base[name] for name in ("transport", "icmp", "v4", "v6", "tag", "cut"))

IPV4, IPV6, ARP, RARP, VLAN, QINQ = 0x0800, 0x86DD, 0x0806, 0x8035, 0x8100, 0x88A8
MPLS, MPLS_MULTICAST, PPPOE, TIPC, FCOE = 0x8847, 0x8848, 0x8864, 0x88CA, 0x8906
BATMAN, PTP, HSR, PRP, CFM, TEB, PPP = 0x4305, 0x88F7, 0x892F, 0x88FB, 0x8902, 0x6558, 0x880B


def some():
    """An IP packet and an EtherType, now and then the wrong one."""
    return rng.choice([v4, v6])(rng.choice([some4, some6])()) if rng.random() < 0.1 else sane()


def sane():
    return v4(some4()) if rng.random() < 0.5 else v6(some6())


def around(frame):
    """An IP packet that carries this one by its protocol number."""
    ethertype, packet = frame
    protocol = 4 if ethertype == IPV4 else 41
    return v4(ip4(protocol, packet, words=rng.choice([5, 5, 5, 8]))) if rng.random() < 0.5 else v6(ip6(protocol, packet))


def carried(protocol, body):
    """The same for any protocol."""
    return v4(ip4(protocol, body)) if rng.random() < 0.5 else v6(ip6(protocol, body))


# GRE.

CSUM, ROUTING, KEY, SEQ, ACK = 0x8000, 0x4000, 0x2000, 0x1000, 0x0080


def gre(frame, flags=None, spare=0):
    ethertype, packet = frame
    flags = rng.choice([0, CSUM, KEY, SEQ, CSUM | KEY, KEY | SEQ, CSUM | KEY | SEQ]) if flags is None else flags
    fields = sum(1 for flag in (CSUM, KEY, SEQ) if flags & flag)
    return carried(47, struct.pack("!HH", flags | spare, ethertype) + raw(4 * fields) + packet)


def ethernet(frame):
    ethertype, packet = frame
    return TEB, mac() + mac() + struct.pack("!H", ethertype) + packet


def pptp(protocol, packet, flags=None, version=1, kind=PPP):
    flags = KEY | rng.choice([0, SEQ, ACK, SEQ | ACK]) if flags is None else flags
    fields = sum(1 for flag in (KEY, SEQ, ACK) if flags & flag)
    ppp = b"\xff\x03" + struct.pack("!H", protocol)
    return carried(47, struct.pack("!HH", flags | version, kind) + raw(4 * fields) + ppp + packet)


def ppp_of(frame):
    return {IPV4: 0x0021, IPV6: 0x0057}[frame[0]]


# IPv6 extension headers.

OPTIONS = [0, 43, 60]


def extension(following, body, units=None):
    units = rng.choice([0, 0, 1, 2]) if units is None else units
    return bytes([following, units]) + raw(6 + 8 * units) + body


def chain(count, last, body):
    protocol = last
    for _ in range(count):
        body = extension(protocol, body)
        protocol = rng.choice(OPTIONS)
    return protocol, body


def chained(count):
    last = rng.choice([6, 17, 58, 4, 41, 47, 51, 59, 132])
    body = {4: some4, 41: some6, 58: lambda: icmp([128, 129, 1, 135])}.get(last, lambda: transport(last))()
    if last == 47:
        body = struct.pack("!HH", 0, IPV4) + some4()
    return v6(ip6(*chain(count, last, body)))


def fragment6(offset, more, inner=None):
    protocol = rng.choice([6, 17, 58]) if inner is None else inner
    head = bytes([protocol, 0]) + struct.pack("!HI", offset << 3 | more, rng.getrandbits(32))
    return 44, head + transport(protocol)


# Other protocols.


def pppoe(protocol, packet, first=0x11, code=0):
    protocol = bytes([protocol]) if protocol < 0x100 and rng.random() < 0.5 else struct.pack("!H", protocol)
    return PPPOE, bytes([first, code]) + raw(2) + struct.pack("!H", len(packet)) + protocol + packet


def batman(frame, kind=0x40, version=15):
    return BATMAN, bytes([kind, version]) + raw(8) + ethernet(frame)[1]


def redundant(frame):
    ethertype, packet = frame
    return rng.choice([HSR, PRP]), raw(4) + struct.pack("!H", ethertype) + packet


def vni(port, head):
    ports = struct.pack("!HHHH", rng.getrandbits(16), port, 0, 0)
    return carried(17, ports + head + ethernet(sane())[1])


def tags(count, frame):
    for _ in range(count):
        frame = tag(frame, rng.choice([VLAN, VLAN, QINQ]))
    return frame


def nested(count, frame):
    for _ in range(count):
        frame = around(frame)
    return frame


def shortened(frame, least=0):
    ethertype, packet = frame
    return ethertype, cut(packet[:120], min(least, 60))


TUNNELS = {
    "ipip4": lambda: v4(ip4(4, some4())),
    "6in4": lambda: v4(ip4(41, some6())),
    "4in6": lambda: v6(ip6(4, some4())),
    "6in6": lambda: v6(ip6(41, some6())),
    "ipip-wrong-family": lambda: carried(rng.choice([4, 41]), rng.choice([some4, some6])()),
    "ipip-icmp": lambda: around(v4(ip4(1, icmp([0, 8, 13, 3, 11, 5, 9])))),
    "ipip-icmp6": lambda: around(v6(ip6(58, icmp([128, 129, 1, 3, 135])))),
    "ipip-fragment": lambda: around(v4(ip4(17, transport(17), frag=rng.choice(base["FRAGMENTS"])))),
    "fragment-ipip": lambda: v4(ip4(4, some4(), frag=rng.choice(base["FRAGMENTS"]))),
    "ipip-bad-ihl": lambda: v4(ip4(4, ip4(6, transport(6), ihl=rng.choice([0, 3, 4, 6, 15])))),
    "bad-ihl-ipip": lambda: v4(ip4(4, some4(), ihl=rng.choice([0, 4, 6]))),
    "ipip-options": lambda: around(v4(ip4(6, transport(6), words=rng.randrange(6, 16)))),
    "ipip-cut": lambda: shortened(around(sane()), 15),
    "ipip-twice": lambda: nested(2, some()),
    "ipip-deep": lambda: nested(rng.randrange(12, 19), sane()),
    "gre": lambda: gre(sane()),
    "gre-plain": lambda: gre(sane(), 0),
    "gre-all": lambda: gre(sane(), CSUM | KEY | SEQ),
    "gre-routing": lambda: gre(sane(), ROUTING | rng.choice([0, KEY])),
    "gre-version": lambda: gre(sane(), 0, rng.choice([2, 3, 7])),
    "gre-spare-bits": lambda: gre(sane(), KEY, rng.choice([0x0800, 0x0300, 0x0078, ACK])),
    "gre-icmp": lambda: gre(v4(ip4(1, icmp([8, 0, 3])))),
    "gre-gre": lambda: gre(gre(sane())),
    "gre-ipip": lambda: gre(around(sane())),
    "gre-arp": lambda: gre((rng.choice([ARP, RARP]), raw(28))),
    "gre-mpls": lambda: gre((MPLS, raw(4) + some4())),
    "gre-other": lambda: gre((rng.choice([0x88BE, 0x22EB, 0x88B5]), raw(40))),
    "gre-cut": lambda: shortened(gre(sane()), 18),
    "gre-teb": lambda: gre(ethernet(some())),
    "gre-teb-vlan": lambda: gre(ethernet(tags(rng.choice([1, 2]), sane()))),
    "gre-teb-other": lambda: gre(ethernet((rng.choice([ARP, 0x88CC, MPLS, 40]), raw(40)))),
    "gre-teb-cut": lambda: shortened(gre(ethernet(sane())), 22),
    "pptp": lambda: pptp(*(lambda frame: (ppp_of(frame), frame[1]))(sane())),
    "pptp-other": lambda: pptp(rng.choice([0xC021, 0x0281, 0x00FD]), some4()),
    "pptp-no-key": lambda: pptp(0x21, some4(), rng.choice([0, SEQ])),
    "pptp-not-ppp": lambda: pptp(0x21, some4(), kind=rng.choice([IPV4, TEB])),
    "pptp-version0": lambda: pptp(0x21, some4(), version=0),
    "pptp-cut": lambda: shortened(pptp(0x21, some4()), 20),
    "vxlan": lambda: vni(4789, raw(8)),
    "geneve": lambda: vni(6081, b"\0\0\x65\x58" + raw(4)),
    "mpls-in-ip": lambda: carried(137, raw(4) + some4()),
    "l2tp": lambda: carried(115, raw(30)),
    "options6": lambda: chained(1),
    "options6-more": lambda: chained(rng.randrange(2, 6)),
    "options6-deep": lambda: chained(rng.randrange(12, 19)),
    "options6-cut": lambda: shortened(chained(2), 38),
    "options6-long": lambda: v6(ip6(60, extension(17, transport(17), 30)[: rng.choice([60, 300])])),
    "options-in-4": lambda: v4(ip4(rng.choice(OPTIONS + [44, 135]), extension(17, transport(17)))),
    "first-fragment6": lambda: v6(ip6(*fragment6(0, rng.choice([0, 1])))),
    "later-fragment6": lambda: v6(ip6(*fragment6(rng.randrange(1, 0x1FFF), rng.choice([0, 1])))),
    "options-fragment6": lambda: v6(ip6(60, extension(*fragment6(rng.choice([0, 0, 5]), 1)))),
    "fragment6-ipip": lambda: v6(ip6(*fragment6(0, 1, 4))),
    "fragment6-cut": lambda: shortened(v6(ip6(*fragment6(0, 1))), 40),
    "ipip-fragment6": lambda: around(v6(ip6(*fragment6(rng.choice([0, 9]), 1)))),
    "ah": lambda: carried(51, transport(51)),
    "esp": lambda: carried(50, transport(50)),
    "mpls": lambda: (rng.choice([MPLS, MPLS_MULTICAST]), raw(4) + some4()),
    "pppoe": lambda: pppoe(*(lambda frame: (ppp_of(frame), frame[1]))(sane())),
    "pppoe-mpls": lambda: pppoe(rng.choice([0x0281, 0x0283]), raw(40)),
    "pppoe-other": lambda: pppoe(rng.choice([0xC021, 0x8021, 0x00FD, 0x0022, 0xC020, 0x4123, 0x2122]), raw(40)),
    "pppoe-bad": lambda: pppoe(0x21, some4(), rng.choice([0x11, 0x12, 0x21, 0x01]), rng.choice([0, 9, 0x65])),
    "pppoe-cut": lambda: shortened(pppoe(0x21, some4())),
    "tipc": lambda: (TIPC, bytes([rng.getrandbits(8) & 0xF1]) + raw(39)),
    "tipc-cut": lambda: (TIPC, bytes([rng.getrandbits(8) & 0xF1]) + raw(rng.randrange(7, 20))),
    "fcoe": lambda: (FCOE, raw(rng.choice([30, 37, 38, 39, 80]))),
    "arp-rarp": lambda: (rng.choice([ARP, RARP]), raw(rng.choice([8, 28]))),
    "batman": lambda: batman(sane()),
    "batman-bad": lambda: batman(sane(), rng.choice([0x40, 0x41, 0x00]), rng.choice([14, 15, 16])),
    "batman-cut": lambda: shortened(batman(sane())),
    "ptp": lambda: (PTP, raw(rng.choice([20, 33, 34, 35, 60]))),
    "hsr": lambda: redundant(sane()),
    "hsr-vlan": lambda: redundant(tags(1, sane())),
    "hsr-cut": lambda: shortened(redundant(sane())),
    "cfm": lambda: (CFM, raw(rng.choice([8, 40]))),
    "tag": lambda: tags(1, some()),
    "tag-none": lambda: tag((0, raw(40))),
    "tag-cut": lambda: shortened(tags(rng.choice([1, 2]), sane()), 10),
    "tag-behind": lambda: tag((rng.choice([0x88B5, 0x0043, 0x0064]), raw(2) + struct.pack("!H", IPV4) + some4())),
    "tags": lambda: tags(2, some()),
    "tags-more": lambda: tags(rng.randrange(3, 6), some()),
    "tags-many": lambda: tags(rng.randrange(6, 10), sane()),
    "tags-deep": lambda: tags(rng.randrange(13, 19), sane()),
    "tag-old": lambda: tag((0x9100, raw(2) + struct.pack("!H", IPV4) + some4())),
    "tag-tunnel": lambda: tag(around(sane())),
    "tag-gre-teb": lambda: tag(gre(ethernet(sane()))),
    "tag-gre-teb-vlan": lambda: tag(gre(ethernet(tags(rng.choice([1, 2]), sane())))),
    "tag-hsr-vlan": lambda: tag(redundant(tags(1, sane()))),
    "tag-pppoe": lambda: tag(pppoe(0x21, some4())),
    "tag-mpls": lambda: tag((MPLS, rng.choice([raw(4), raw(2) + b"\x08\x00"]) + some4())),
    "tag-other": lambda: tag((rng.choice([TIPC, ARP, FCOE, PTP]), bytes(1) + raw(60))),
    "random": lambda: (rng.choice([IPV4, IPV6, PPPOE, HSR, BATMAN, VLAN]), raw(rng.randrange(0, 90))),
}


def plain():
    kinds = base["KINDS"]
    return kinds[rng.choice(list(kinds))]()


def main():
    names = list(TUNNELS) + ["plain"] * 12
    with open("encap-frames.pcap", "wb") as pcap, open("encap-kinds.txt", "w") as kinds:
        pcap.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number in range(COUNT):
            name = names[number % len(names)]
            ethertype, packet = TUNNELS.get(name, plain)()
            # The receiver's kernel takes a tag off: the last 8 bytes must be behind it.
            packet = packet.ljust(12 if ethertype in (VLAN, QINQ) else 8, b"\0")
            frame = mac() + mac() + struct.pack("!H", ethertype) + packet[:-8] + b"ORCL" + struct.pack("<I", number)
            pcap.write(struct.pack("<IIII", 0, number, len(frame), len(frame)) + frame)
            kinds.write(name + "\n")


if __name__ == "__main__":
    main()
