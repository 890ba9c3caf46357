def titled(kernel: str, stage: str, text: str) -> str:
    while text.endswith("\n"):
        text = text[:-1]
    number = 1
    for other in FILES:
        if other == stage:
            break
        number = number + 1
    title = "──── " + kernel + ": " + str(number) + " " + stage + ", " + str(len(text.splitlines())) + " lines "
    while len(title) < WIDTH:
        title = title + "─"
    return title + "\n" + text


def dump(kernel: str, key: str, stage: str, text: str) -> None:
    folder = os.path.join(dump_directory(), key)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, kernel + "." + FILES[stage]), "w", encoding="utf-8", newline="") as file:
        file.write(text)
