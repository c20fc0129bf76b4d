"""Builds the wheel: a pure package needs nothing but the standard library for it, so
that installing asks the network for nothing. PEP 517 and PEP 427 say what is asked."""

import base64
import hashlib
import os
import zipfile

NAME, VERSION = "memkernel_client", "0.1.0"
ROOT = os.path.dirname(os.path.abspath(__file__))
INFO = f"{NAME}-{VERSION}.dist-info"


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{NAME}-{VERSION}-py3-none-any.whl"
    package = os.path.join(ROOT, "memkernel")
    files = {}
    for entry in sorted(os.listdir(package)):
        if entry.endswith(".py") or entry == "py.typed":
            with open(os.path.join(package, entry), "rb") as f:
                files["memkernel/" + entry] = f.read()
    files[INFO + "/METADATA"] = f"Metadata-Version: 2.1\nName: memkernel-client\nVersion: {VERSION}\nRequires-Python: >=3.9\n".encode()
    files[INFO + "/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: memkernel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[INFO + "/RECORD"] = (record + f"{INFO}/RECORD,,\n").encode()
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("build a wheel: the sources are the repository's")
