#!/usr/bin/env python3
"""A ROS 2 node that publishes the state of the board on /diagnostics, once a second.

    source /opt/ros/humble/setup.sh
    python3 ros2-diagnostics.py [BOARD]
"""
import sys
from typing import Dict

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

import nvmtop

GROUPS = {"power": ("mW", "J"), "temperatures": ("C",), "load": ("%",), "clocks": ("Hz",), "memory": ("kB",)}


class Diagnostics(Node):
    def __init__(self, board: nvmtop.Live) -> None:
        super().__init__("nvmtop")
        self.board = board
        self.hardware = nvmtop.detect_board()[1]
        self.publisher = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.window = board.window().begin()
        self.timer = self.create_timer(1.0, self.publish)

    def publish(self) -> None:
        self.window.end()
        last, self.window = self.window, self.board.window().begin()
        values = self.board.read()
        message = DiagnosticArray()
        message.header.stamp = self.get_clock().now().to_msg()
        for group, units in GROUPS.items():
            message.status.append(self.status(group, {n: v for n, v in values.items() if v.unit in units}))
        if not last.missing:
            message.status[0].message = "%.2f +- %.2f W" % (last.watts, last.joules_within / last.seconds)
        self.publisher.publish(message)

    def status(self, group: str, values: Dict[str, nvmtop.Value]) -> DiagnosticStatus:
        known = [v for v in values.values() if not v.missing]
        status = DiagnosticStatus(name="nvmtop: " + group, hardware_id=self.hardware)
        status.level = DiagnosticStatus.OK if known else DiagnosticStatus.STALE
        status.message = "%d of %d signals" % (len(known), len(values))
        # A value that is missing has its reason, and not 0.
        status.values = [KeyValue(key=v.name, value=v.missing or "%.6g %s" % (v, v.unit)) for v in values.values()]
        return status


rclpy.init()
with nvmtop.Live(board=sys.argv[1] if sys.argv[1:] else None) as live:
    node = Diagnostics(live)
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    node.destroy_node()
