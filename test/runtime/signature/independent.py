"""Signs and verifies agent cards with nothing of this repository: its own canonical JSON, and `cryptography` for the rest.

Reads one JSON request from standard input, {"do": "sign" | "verify", "cards": [...]}, and writes one answer.
"""

import base64
import hashlib
import json
import sys

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

HASHES = {"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}
BYTES = {"ES256": 32, "ES384": 48, "ES512": 66}


def number(value):
    """ECMAScript's text of a double."""
    if isinstance(value, int):
        value = float(value)
    if value == 0:
        return "0"
    sign, value = ("-", -value) if value < 0 else ("", value)
    mantissa, _, exponent = format(value, ".17e").partition("e")
    for precision in range(17):
        short = format(value, f".{precision}e")
        if float(short) == value:
            mantissa, _, exponent = short.partition("e")
            break
    digits = mantissa.replace(".", "").rstrip("0") or "0"
    point = int(exponent) + 1
    if 0 < point <= 21:
        whole = digits[:point].ljust(point, "0")
        return sign + whole + ("." + digits[point:] if digits[point:] else "")
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = point - 1
    head = digits[0] + ("." + digits[1:] if digits[1:] else "")
    return f"{sign}{head}e{'+' if power > 0 else '-'}{abs(power)}"


def canonical(value):
    """RFC 8785."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\x7f")
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def signing_input(protected, card):
    payload = {name: value for name, value in card.items() if name != "signatures"}
    return f"{protected}.{b64url(canonical(payload).encode())}".encode()


def sign(request):
    key = serialization.load_pem_private_key(request["key"].encode(), None)
    chain = x509.load_pem_x509_certificates(request["chain"].encode())
    ders = [each.public_bytes(serialization.Encoding.DER) for each in chain]
    algorithm = request["alg"]
    header = {
        "alg": algorithm,
        "kid": hashlib.sha256(ders[0]).hexdigest()[:16],
        "typ": "JOSE",
        "x5c": [base64.b64encode(der).decode() for der in ders],
    }
    protected = b64url(json.dumps(header).encode())
    data = signing_input(protected, request["card"])
    digest = HASHES[algorithm[2:]]()
    if isinstance(key, rsa.RSAPrivateKey):
        signature = key.sign(data, padding.PKCS1v15(), digest)
    else:
        r, s = utils.decode_dss_signature(key.sign(data, ec.ECDSA(digest)))
        size = BYTES[algorithm]
        signature = r.to_bytes(size, "big") + s.to_bytes(size, "big")
    return {**request["card"], "signatures": [{"protected": protected, "signature": b64url(signature)}]}


def verify(card):
    """The signature alone: whether the key of the first certificate made it over the canonical card."""
    entry = card["signatures"][0]
    header = json.loads(unb64url(entry["protected"]))
    key = x509.load_der_x509_certificate(base64.b64decode(header["x5c"][0])).public_key()
    data, signature = signing_input(entry["protected"], card), unb64url(entry["signature"])
    digest = HASHES[header["alg"][2:]]()
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, data, padding.PKCS1v15(), digest)
        else:
            half = len(signature) // 2
            r, s = int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
            key.verify(utils.encode_dss_signature(r, s), data, ec.ECDSA(digest))
        return True
    except InvalidSignature:
        return False


asked = json.load(sys.stdin)
answers = [sign(each) if asked["do"] == "sign" else verify(each) for each in asked["cards"]]
json.dump(answers, sys.stdout)
