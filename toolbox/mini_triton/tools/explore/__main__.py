"""The command: `mini-triton explore --help`."""

from __future__ import annotations

import argparse
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from mini_triton.errors import TritonError
from mini_triton.tools.explore.lowering import Lowering
from mini_triton.tools.explore.page import compile_everything, describe_kernel, write_page
from mini_triton.tools.explore.subject import find_launch, read_signature
from mini_triton.tools.loading import load_file

LAUNCH = 'a launch, which may use np, torch and the names in the file: "softmax(np.ones((4, 781), np.float32))"'
SIGNATURE = 'without a launch, the type or the value of each parameter: "*fp32:16, *fp32:16, i32, 1024"'


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command. The exit status is 1 if the kernel does not compile; the page is written anyway."""
    parser = argparse.ArgumentParser(
        prog="mini-triton explore", description="Show a kernel at every stage, on one HTML page."
    )
    parser.add_argument("file", help="a Python file with the kernel, which is executed")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--launch", metavar="EXPRESSION", help=LAUNCH)
    how.add_argument("--signature", metavar="TYPES", help=SIGNATURE)
    parser.add_argument(
        "--kernel", metavar="NAME", help="the kernel's name (default: the only one, or the first launched)"
    )
    parser.add_argument(
        "--num-warps", type=int, choices=[1, 2, 4, 8, 16, 32], default=4, help="warps of a program, with --signature"
    )
    parser.add_argument("--target", default="cuda:90", help="the GPU for which to compile (default: %(default)s)")
    parser.add_argument("-o", "--output", type=Path, help="the page (default: the kernel's name with .html)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    options = parser.parse_args(arguments)
    with Lowering() as lowering:  # first, so that real Triton loads while our own stages run
        try:
            names = load_file(Path(options.file))
            if options.launch:
                subject = find_launch(names, options.launch, options.kernel)
            else:
                subject = read_signature(names, options.signature, options.kernel, options.num_warps)
            about = describe_kernel(subject, *compile_everything(subject, lowering, options.target), options.target)
            page = write_page(about)
            output = options.output or Path(f"{about['kernel']}.html")
            output.write_text(page, encoding="utf-8")
        except (OSError, ValueError, TypeError, TritonError) as error:
            parser.error(str(error))
    print(f"{output}: {len(page.encode()) / 1e6:.2f} MB")
    if options.open:
        webbrowser.open(output.resolve().as_uri())
    if about["error"]:
        parser.exit(1, f"{about['error']}\n")


if __name__ == "__main__":
    main()
