#!/usr/bin/env python3
"""Writes frames.pcap and kinds.txt (one word a frame) into the current folder.

The last 8 bytes of every frame are "ORCL" and its number, little-endian, so
that the receiver can tell which frame it got; where a frame is shorter than
its headers, they overwrite the end of the headers.
"""

import random
import struct

COUNT = 1500
rng = random.Random(61)


def raw(length):
    return rng.randbytes(length)


def mac():
    return bytes([rng.getrandbits(8) & 0xFC | 2]) + raw(5)


def payload():
    return raw(rng.choice([8, 9, 12, 20, 40]))


# Transport headers by protocol number.

def transport(protocol):
    if protocol == 6:
        return raw(4) + struct.pack("!IIBBHHH", 1, 1, 0x50, 0x10, 1000, 0, 0) + payload()
    if protocol == 17:
        return raw(4) + struct.pack("!HH", 8, 0) + payload()
    if protocol == 51:
        return struct.pack("!BBHII", 6, 4, 0, rng.getrandbits(32), 1) + raw(12) + payload()
    return raw(12) + payload()


def icmp(kinds, ident=None, body=b""):
    ident = rng.getrandbits(16) if ident is None else ident
    code = rng.choice([0, 0, 1, 3, 255])
    return struct.pack("!BBHHH", rng.choice(kinds), code, 0, ident, 7) + body + payload()


PORTS = [6, 17, 33, 50, 51, 132, 136]
NO_PORTS = [2, 4, 41, 47, 89, 112, 255]
HAS_ID4, NO_ID4, ERRORS4 = [0, 8, 13, 14], [9, 10, 15, 16, 17, 40], [3, 4, 5, 11, 12]
HAS_ID6, NO_ID6, ERRORS6 = [128, 129], [0, 5, 130, 131, 133, 134, 135, 136, 143], [1, 2, 3, 4]


# IP headers.

def ip4(protocol, body, words=5, ihl=None, frag=0, version=4):
    ihl = words if ihl is None else ihl
    head = struct.pack("!BBHHHBBH", version << 4 | ihl, 0, words * 4 + len(body), 7, frag, 64, protocol, 0)
    return head + raw(8) + b"\x01" * (words * 4 - 20) + body


def ip6(protocol, body):
    return struct.pack("!IHBB", 6 << 28 | rng.getrandbits(20), len(body), protocol, 64) + raw(32) + body


def some4():
    protocol = rng.choice(PORTS)
    return ip4(protocol, transport(protocol))


def some6():
    protocol = rng.choice(PORTS)
    return ip6(protocol, transport(protocol))


def cut(packet, least=0):
    return packet[: rng.randrange(least, len(packet))]


# Each kind: EtherType and what follows it.

def v4(packet):
    return 0x0800, packet


def v6(packet):
    return 0x86DD, packet


def tag(frame, protocol=0x8100):
    ethertype, packet = frame
    packet = packet.ljust(8, b"\0")
    return protocol, struct.pack("!HH", rng.choice([rng.getrandbits(16), rng.randrange(1, 4095), 0]), ethertype) + packet


def some_frame():
    return KINDS[rng.choice(PLAIN)]()


FRAGMENTS = [0x2000, 0x2001, 0x0010, 0x1FFF, 0x3FFF]

KINDS = {
    "tcp4": lambda: v4(ip4(6, transport(6))),
    "udp4": lambda: v4(ip4(17, transport(17))),
    "ports4": lambda: v4(some4()),
    "other4": lambda: v4(ip4(rng.choice(NO_PORTS), raw(30))),
    "options4": lambda: v4(ip4(rng.choice([6, 17, 132]), transport(6), words=rng.randrange(6, 16))),
    "dont-fragment4": lambda: v4(ip4(17, transport(17), frag=rng.choice([0x4000, 0x8000, 0xC000]))),
    "fragment4": lambda: v4(ip4(rng.choice([6, 17, 1]), transport(17), frag=rng.choice(FRAGMENTS))),
    "bad-ihl4": lambda: v4(ip4(rng.choice([6, 17, 1, 51]), transport(17), ihl=rng.choice([0, 1, 2, 3, 4, 14, 15]))),
    "bad-version4": lambda: v4(ip4(6, transport(6), version=rng.choice([0, 6, 15]))),
    "cut4": lambda: v4(cut(some4()[:32])),
    "icmp4-id": lambda: v4(ip4(1, icmp(HAS_ID4))),
    "icmp4-id0": lambda: v4(ip4(1, icmp(HAS_ID4, 0))),
    "icmp4-no-id": lambda: v4(ip4(1, icmp(NO_ID4))),
    "icmp4-v6-types": lambda: v4(ip4(1, icmp(HAS_ID6 + ERRORS6))),
    "icmp4-options": lambda: v4(ip4(1, icmp(HAS_ID4), words=rng.randrange(6, 16))),
    "icmp4-error": lambda: v4(ip4(1, icmp(ERRORS4, body=some4()))),
    "icmp4-error-icmp": lambda: v4(ip4(1, icmp(ERRORS4, body=ip4(1, icmp(HAS_ID4 + ERRORS4))))),
    "icmp4-error-options": lambda: v4(ip4(1, icmp(ERRORS4, body=ip4(17, transport(17), words=8)), words=7)),
    "icmp4-error-fragment": lambda: v4(ip4(1, icmp(ERRORS4, body=ip4(17, transport(17), frag=rng.choice(FRAGMENTS))))),
    "icmp4-error-cut": lambda: v4(cut(ip4(1, icmp(ERRORS4, body=some4()))[:60], 20)),
    "icmp4-fragment": lambda: v4(ip4(1, icmp(ERRORS4 + HAS_ID4, body=some4()), frag=rng.choice(FRAGMENTS))),
    "icmp6-in-4": lambda: v4(ip4(58, icmp(HAS_ID6 + ERRORS6 + ERRORS4 + HAS_ID4, body=some4()))),
    "tcp6": lambda: v6(ip6(6, transport(6))),
    "udp6": lambda: v6(ip6(17, transport(17))),
    "ports6": lambda: v6(some6()),
    "other6": lambda: v6(ip6(rng.choice(NO_PORTS + [59]), raw(30))),
    "extension6": lambda: v6(ip6(rng.choice([0, 43, 60, 135]), bytes([rng.choice([6, 17, 58]), 0]) + raw(6) + transport(6))),
    "fragment6": lambda: v6(ip6(44, bytes([17, 0]) + raw(6) + transport(17))),
    "cut6": lambda: v6(cut(some6()[:52])),
    "icmp6-id": lambda: v6(ip6(58, icmp(HAS_ID6))),
    "icmp6-id0": lambda: v6(ip6(58, icmp(HAS_ID6, 0))),
    "icmp6-no-id": lambda: v6(ip6(58, icmp(NO_ID6))),
    "icmp6-v4-types": lambda: v6(ip6(58, icmp(HAS_ID4 + [11, 12]))),
    "icmp6-error": lambda: v6(ip6(58, icmp(ERRORS6, body=some6()))),
    "icmp6-error-icmp": lambda: v6(ip6(58, icmp(ERRORS6, body=ip6(58, icmp(HAS_ID6 + ERRORS6))))),
    "icmp6-error-extension": lambda: v6(ip6(58, icmp(ERRORS6, body=ip6(0, bytes([6, 0]) + raw(6) + transport(6))))),
    "icmp6-error-cut": lambda: v6(cut(ip6(58, icmp(ERRORS6, body=some6()))[:100], 40)),
    "icmp4-in-6": lambda: v6(ip6(1, icmp(HAS_ID4 + ERRORS4 + ERRORS6, body=some6()))),
    "arp": lambda: (0x0806, struct.pack("!HHBBH", 1, 0x800, 6, 4, 1) + mac() + raw(4) + bytes(6) + raw(4)),
    "llc": lambda: (rng.randrange(3, 1501), b"\x42\x42\x03" + raw(35)),
    "other": lambda: (rng.choice([0x88B5, 0x8847, 0x8864, 0x88CC, 0x8809, 0xFFFF, 0x0600, rng.getrandbits(16)]), raw(40)),
    "junk4": lambda: v4(raw(rng.randrange(0, 80))),
    "junk6": lambda: v6(raw(rng.randrange(0, 80))),
}
PLAIN = list(KINDS)
KINDS |= {
    "vlan-tcp4": lambda: tag(v4(ip4(6, transport(6)))),
    "vlan-udp6": lambda: tag(v6(ip6(17, transport(17)))),
    "vlan-any": lambda: tag(some_frame()),
    "vlan-any-again": lambda: tag(some_frame()),
    "qinq": lambda: tag(tag(some_frame()), 0x88A8),
    "service-tag": lambda: tag(some_frame(), 0x88A8),
    "vlan-mpls": lambda: tag((rng.choice([0x8847, 0x8848]), raw(30)), rng.choice([0x8100, 0x88A8])),
    "vlan-vlan": lambda: tag(tag(some_frame())),
}


def main():
    names = list(KINDS)
    with open("frames.pcap", "wb") as pcap, open("kinds.txt", "w") as kinds:
        pcap.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number in range(COUNT):
            name = names[number % len(names)]
            ethertype, packet = KINDS[name]()
            packet = packet.ljust(8, b"\0")
            frame = mac() + mac() + struct.pack("!H", ethertype) + packet[:-8] + b"ORCL" + struct.pack("<I", number)
            pcap.write(struct.pack("<IIII", 0, number, len(frame), len(frame)) + frame)
            kinds.write(name + "\n")


if __name__ == "__main__":
    main()
