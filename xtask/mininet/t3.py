"""The hosts and shaped links of experiment T3 in mininet, for `xtask bench`.

Five hosts with four 100 Mbit/s links each to one Linux bridge; no teams, which
mininet does not have. Prints a JSON line when everything stands, waits for
SIGINT, takes it down and says how long that took, as `nicteam lab up --json`
does. Run it in a network namespace of its own: mininet's switches live in the
caller's.
"""

import json
import signal
import sys
import time

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge

HOSTS = 5
LINKS_PER_HOST = 4
RATE_MBPS = 100


def build():
    """Builds and starts the network."""
    net = Mininet(switch=LinuxBridge, link=TCLink, controller=None, autoSetMacs=True)
    switch = net.addSwitch("s1")
    for number in range(1, HOSTS + 1):
        host = net.addHost(f"h{number}")
        for _ in range(LINKS_PER_HOST):
            net.addLink(host, switch, bw=RATE_MBPS)
    net.start()
    return net


def shaped_ends(net):
    """How many link ends have a rate limit."""
    return sum(node.cmd("tc qdisc show").count("qdisc htb") for node in net.hosts + net.switches)


def milliseconds_since(start):
    return (time.monotonic() - start) * 1e3


def main():
    # Every limit makes tc warn about its quantum.
    setLogLevel("critical")
    # Else mininet raises limits of the whole machine, which a measurement must not.
    Mininet.inited = True
    start = time.monotonic()
    net = build()
    built_ms = milliseconds_since(start)
    print(json.dumps({"built_ms": built_ms}), flush=True)
    # Neither in the time to build nor in the time to take down.
    shaped = shaped_ends(net)
    try:
        signal.pause()
    except KeyboardInterrupt:
        pass
    start = time.monotonic()
    net.stop()
    taken_down_ms = milliseconds_since(start)
    if shaped != 2 * HOSTS * LINKS_PER_HOST:
        sys.exit(f"mininet shaped {shaped} link ends of {2 * HOSTS * LINKS_PER_HOST}")
    print(f"taken down in {taken_down_ms:.1f} ms", file=sys.stderr)


if __name__ == "__main__":
    main()
