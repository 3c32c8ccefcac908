"""What commands write where somebody looks."""
import os
import pty
import subprocess
import termios


def on_terminal(words, stderr=None, **how):
    """Runs a command whose standard output is a terminal, and its standard error with `stderr=True`:
    the exit status, and what it writes there. `how`: as for subprocess.Popen."""
    ours, theirs = pty.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST  # line ends as they are
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    process = subprocess.Popen(words, stdout=theirs, stderr=theirs if stderr else None, **how)
    os.close(theirs)
    text = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # nobody has the other end open any more
            break
        if not chunk:
            break
        text += chunk
    os.close(ours)
    return process.wait(), text.decode()
