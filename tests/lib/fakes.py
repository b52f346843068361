"""Runs an example with stand-ins for what a test machine does not have: only what examples use of it, and what the
real one would refuse. fakes.py EXAMPLE [ARGUMENT]..."""
import abc
import importlib.util
import runpy
import sys
import time
import types


def module(name, **names):
    m = types.ModuleType(name)
    m.__dict__.update(names)
    sys.modules[name] = m
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, m)
    return m


class Anything:
    """A layer, a model, a tensor, a context."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, x):
        time.sleep(0.01)
        return x

    def to(self, device):
        return self

    def eval(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass


def torch():
    module("torch", no_grad=Anything, randn=Anything, Tensor=Anything)
    module("torch.cuda", is_available=lambda: True, synchronize=lambda: None)
    module("torch.nn", Sequential=Anything, Linear=Anything, ReLU=Anything)


class Message:
    """Refuses fields that the message does not have, and values of another type, as those of rclpy do."""

    fields = {}

    def __init__(self, **values):
        self.__dict__.update({name: kind() for name, kind in self.fields.items()})
        for name, value in values.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        assert isinstance(value, self.fields[name]), (name, value)
        self.__dict__[name] = value


class Header(Message):
    fields = {"stamp": float}


class KeyValue(Message):
    fields = {"key": str, "value": str}


class Status(Message):
    fields = {"level": bytes, "name": str, "message": str, "hardware_id": str, "values": list}
    OK, STALE = b"\0", b"\3"


class Array(Message):
    fields = {"header": Header, "status": list}


class Node:
    def __init__(self, name):
        self.timers = []

    def create_publisher(self, kind, topic, depth):
        def publish(message):
            assert isinstance(message, kind)
            for s in message.status:
                print(topic, s.level, s.name, "|", s.message, "|", "; ".join("%s=%s" % (v.key, v.value) for v in s.values))
        return types.SimpleNamespace(publish=publish)

    def create_timer(self, period, function):
        self.timers.append(function)

    def get_clock(self):
        return types.SimpleNamespace(now=lambda: types.SimpleNamespace(to_msg=time.time))

    def destroy_node(self):
        print("destroyed")


def spin(node):
    for _ in range(3):
        time.sleep(0.2)
        for f in node.timers:
            f()
    raise KeyboardInterrupt


def rclpy():
    module("rclpy", init=lambda: None, spin=spin)
    module("rclpy.node", Node=Node)
    module("diagnostic_msgs")
    module("diagnostic_msgs.msg", DiagnosticArray=Array, DiagnosticStatus=Status, KeyValue=KeyValue)


class Measurement(abc.ABC):
    @abc.abstractmethod
    def __sub__(self, other):
        pass

    @abc.abstractmethod
    def zero_all_fields(self):
        pass


class SoC(abc.ABC):
    @abc.abstractmethod
    def get_available_metrics(self):
        pass

    @abc.abstractmethod
    def get_total_energy_consumption(self):
        pass

    @abc.abstractmethod
    def begin_window(self, key, restart=False):
        pass

    @abc.abstractmethod
    def end_window(self, key):
        pass


def zeus():
    module("zeus")
    module("zeus.device")
    soc = module("zeus.device.soc", _soc=None)
    soc.get_soc = lambda: soc._soc
    module("zeus.device.soc.common", SoC=SoC, SoCMeasurement=Measurement)


if __name__ == "__main__":
    for fake in (torch, rclpy, zeus):
        if not importlib.util.find_spec(fake.__name__):
            fake()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
