//! URLs written in other ways: some that `safe@1` makes one, some that only look alike.

/// How many ways [`spell`] knows.
pub(crate) const WAYS: usize = 9;

/// Another way to write `url`, which has a scheme, a host, a path with a `-` in it and no fragment.
pub(crate) fn spell(url: &str, way: usize) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let default_port = match (scheme, host.contains(':')) {
        ("https", false) => ":443",
        ("http", false) => ":80",
        _ => "",
    };
    match way {
        0 => format!("{}://{host}/{path}", scheme.to_ascii_uppercase()),
        1 => format!("{scheme}://{}/{path}", host.to_ascii_uppercase()),
        2 => format!("{scheme}://{host}{default_port}/{path}"),
        3 => format!("{scheme}://{host}/{path}#section-2"),
        4 => format!("{scheme}://{host}/./{path}"),
        5 => format!("{scheme}://{host}/old/../{path}"),
        6 => format!("{scheme}://{host}/{}", path.replacen('-', "%2D", 1)),
        7 => format!("{scheme}://{host}/{}", path.replacen('-', "%2d", 1)),
        _ => format!("{scheme}:\\\\{host}\\{path}"),
    }
}

/// How many ways [`near_miss`] knows.
pub(crate) const NEAR_MISSES: usize = 10;

/// Two paths that a careless rule makes one.
pub(crate) fn near_miss(path: &str, way: usize) -> (String, String) {
    match way {
        0 => (path.to_owned(), format!("{path}/")),
        1 => (path.to_owned(), path.to_ascii_uppercase()),
        2 => (path.to_owned(), format!("/{path}")),
        3 => (path.to_owned(), format!("{path}?")),
        4 => (format!("{path}?a=1&b=2"), format!("{path}?b=2&a=1")),
        5 => (format!("{path}/"), format!("{path}/index.html")),
        6 => (format!("{path}/x"), format!("{path}%2Fx")),
        7 => (format!("{path}?id=7"), format!("{path}?id=07")),
        8 => (format!("{path}?q=a+b"), format!("{path}?q=a%20b")),
        _ => (
            path.to_owned(),
            format!("{path};jsessionid=0123456789abcdef"),
        ),
    }
}
