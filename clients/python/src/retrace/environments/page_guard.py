"""Refuses the requests of foreign web pages: the rule of every server of Retrace, as `libs/page-guard` has it in TypeScript."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_OWN_SITES = ("same-origin", "none")
_PROBES = ("/health",)


@dataclass(frozen=True, slots=True)
class PageRefusal:
    """The reason why a request is refused."""

    code: str
    message: str


class PageGuard:
    """Refuses requests that a foreign web page could have made a browser send.

    A page whose own name resolves to this host ("DNS rebinding") sends that name in `Host`, so every name of this host must be known.
    Beyond the loopback interface, addresses and names without a dot are known too: no page of the web has one as its name. Any other
    page sends `Sec-Fetch-Site`, or `Origin` with what it posts and with a WebSocket. Programs send neither, and are let through.
    """

    def __init__(self, host: str, allowed_hosts: Sequence[str] = ()) -> None:
        added = [re.sub(r"/$", "", name.lower()) for name in allowed_hosts]
        self._origins = {name for name in added if "://" in name}
        self._added_names = {_host_name(name) for name in added if "://" not in name}
        self._names = [*_LOOPBACK_NAMES, _host_name(host.lower()), *sorted(self._added_names)]
        self._is_local = _is_loopback(host)

    def refusal(self, target: str, headers: Iterable[tuple[str, str]]) -> PageRefusal | None:
        """Say why a request is refused; None for one that is not."""
        values: dict[str, list[str]] = {}
        for name, value in headers:
            values.setdefault(name.lower(), []).append(value)
        authorities = [*values.get("host", [""]), *([] if target.startswith("/") else [_authority(target)])]
        authorities = [authority.lower() for authority in authorities]
        return self._foreign_host(target, authorities) or self._foreign_page(values, authorities)

    def _foreign_host(self, target: str, authorities: list[str]) -> PageRefusal | None:
        if target in _PROBES:
            return None
        for name in map(_without_port, authorities):
            if not self._is_known(name):
                known = [*self._names, *([] if self._is_local else ["addresses", "names without a dot"])]
                message = (
                    f'Host "{name}" is not allowed; allowed are {", ".join(known)}. '
                    "Add other names to allowed_hosts"
                )
                return PageRefusal("HOST_NOT_ALLOWED", message)
        return None

    def _is_known(self, name: str) -> bool:
        if name in self._names:
            return True
        is_dotless = re.fullmatch(r"[a-z0-9_-]+", name) is not None
        return not self._is_local and (is_dotless or _ip_version(re.sub(r"^\[|\]$", "", name)) is not None)

    def _foreign_page(self, values: dict[str, list[str]], authorities: list[str]) -> PageRefusal | None:
        origins = [origin.lower() for origin in values.get("origin", [])]
        sites = values.get("sec-fetch-site", [])
        is_own_page = all(self._is_own_origin(origin, authorities) for origin in origins)
        is_own = all(site in _OWN_SITES for site in sites) if sites else is_own_page
        if is_own or (origins and all(origin in self._origins for origin in origins)):
            return None
        sent = [*(f"Sec-Fetch-Site: {site}" for site in sites), *(f"Origin: {origin}" for origin in origins)]
        message = (
            f"A page of another origin sent this request ({', '.join(sent)}). "
            "Add its origin to allowed_hosts if it may use this server"
        )
        return PageRefusal("ORIGIN_NOT_ALLOWED", message)

    def _is_own_origin(self, origin: str, authorities: list[str]) -> bool:
        authority = _authority(origin)
        return authority in authorities or _without_port(authority) in self._added_names


def _authority(address: str) -> str:
    match = re.match(r"[a-z][a-z0-9+.-]*://(?:[^/?#]*@)?([^/?#]*)", address, re.IGNORECASE)
    return match[1] if match else address


def _without_port(authority: str) -> str:
    return re.sub(r":[0-9]+$", "", authority)


def _host_name(name: str) -> str:
    """Return a name as `Host` has it, without a port: an IPv6 address has brackets there."""
    return f"[{name}]" if _ip_version(name) == 6 else _without_port(name)


def _ip_version(name: str) -> int | None:
    try:
        return ipaddress.ip_address(name).version
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address. A name may resolve to anything."""
    return host in ("localhost", "::1") or (_ip_version(host) == 4 and host.startswith("127."))
