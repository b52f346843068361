"""Runs a program in its own pseudo-terminal."""
import fcntl
import os
import pty
import struct
import termios


def resize(master, w, h):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", h, w, 0, 0))


def spawn(argv, size, environment):
    """Returns the process and both ends of its terminal. Close the slave for the master to
    report the end of the program."""
    master, slave = pty.openpty()
    resize(master, *size)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2):
            os.dup2(slave, fd)
        os.closerange(3, 64)
        os.environ.update(environment)
        os.execvp(argv[0], argv)
    return pid, master, slave
