#!/bin/sh
# What pip cannot bring: a Python with venv, Chromium, fonts, Node. From apt when root, else one sentence on what to do.
#   setup.sh venv DIR    create DIR unless it is there
#   setup.sh browser     Chromium and Chinese fonts
#   setup.sh firefox     Firefox, if that is easy: its tests are skipped without it
#   setup.sh browsers    Firefox and WebKitGTK
#   setup.sh drawing     OpenGL without a window, for rendered people
#   setup.sh proxy       nginx, for the test of two replicas
#   setup.sh node        Node 18 or newer with npm, for the checks of the scripts
#   setup.sh beside DIR OTHER    create OTHER, an environment that sees what DIR has, unless it is there
set -eu

install() { # install "PACKAGES" "what for"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Installing $1 ($2) ..."
        export DEBIAN_FRONTEND=noninteractive
        # shellcheck disable=SC2086 # a list of packages
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends $1; } >/dev/null
    else
        echo "Missing: $2. Install it with: sudo apt-get install $1" >&2
        exit 1
    fi
}

find_python() {
    for candidate in "${PYTHON:-python3.11}" python3.11 python3.12 python3.13 python3; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

has_node() {
    node -e 'process.exit(parseInt(process.versions.node, 10) < 18 ? 1 : 0)' 2>/dev/null && command -v npm >/dev/null 2>&1
}

case "${1:-}" in
venv)
    [ -x "$2/bin/pip" ] && exit 0
    python=$(find_python)
    [ -n "$python" ] || { install "python3 python3-venv" "Python 3.11 or newer"; python=$(find_python); }
    [ -n "$python" ] || { echo "Missing: Python 3.11 or newer. Install it and run make again." >&2; exit 1; }
    "$python" -c 'import ensurepip, venv' 2>/dev/null || install "python3-venv" "Python's venv module"
    "$python" -m venv "$2"
    ;;
browser)
    # Any that the tests know: Ubuntu's package of the first name is a snap, and its machines often have another.
    for name in chromium chromium-browser google-chrome none; do command -v $name >/dev/null 2>&1 && break; done
    [ $name != none ] || install "chromium" "Chromium for the browser tests"
    fc-list 2>/dev/null | grep -qi cjk || install "fontconfig fonts-noto-cjk fonts-dejavu-core" "fonts for the browser tests"
    ;;
firefox)
    if command -v firefox-esr >/dev/null 2>&1 || command -v firefox >/dev/null 2>&1; then exit 0; fi
    (install "firefox-esr" "Firefox for the browser tests") || echo "Going on without Firefox; its tests are skipped." >&2
    ;;
browsers)
    command -v firefox-esr >/dev/null 2>&1 || command -v firefox >/dev/null 2>&1 || install "firefox-esr" "Firefox"
    { command -v WebKitWebDriver && command -v Xvfb; } >/dev/null 2>&1 || install "webkit2gtk-driver xvfb" "WebKitGTK and a screen for it"
    ;;
drawing)
    if ! ldconfig -p 2>/dev/null | grep -q 'libEGL\.so\.1' || ! ls /usr/lib/*/dri/swrast_dri.so >/dev/null 2>&1; then
        install "libegl1 libgl1-mesa-dri" "OpenGL without a window"
    fi
    ;;
proxy)
    [ -x /usr/sbin/nginx ] || command -v nginx >/dev/null 2>&1 || install "nginx-light" "nginx for the test of two replicas"
    ;;
node)
    has_node || install "nodejs npm" "Node 18 or newer with npm for the checks of the scripts"
    has_node || { echo "Missing: Node 18 or newer with npm. Install it and run make again." >&2; exit 1; }
    ;;
beside)
    [ -x "$3/bin/python" ] || "$2/bin/python" -m venv --without-pip "$3"
    packages='import sysconfig; print(sysconfig.get_path("purelib"))'
    "$2/bin/python" -c "$packages" >"$("$3/bin/python" -c "$packages")/beside.pth"
    ;;
*)
    echo "usage: setup.sh venv DIR | browser | firefox | browsers | drawing | proxy | node | beside DIR OTHER" >&2
    exit 2
    ;;
esac
