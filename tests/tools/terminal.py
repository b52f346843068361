"""A program in a pseudo-terminal of its own."""
import fcntl
import os
import pty
import struct
import termios


def resize(master, w, h):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", h, w, 0, 0))


def spawn(argv, size, environment):
    """The process, and both ends of its terminal; the slave's is to be closed when
    the master is to tell that the program has gone."""
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
