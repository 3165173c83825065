#!/usr/bin/env bash
# The analysis page: what is committed is what its source gives, its types hold, and it works in a browser.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v npm >/dev/null; then
    echo "skipped: no Node here, so the page is not built anew, nor tried in a browser" >&2
    exit 0
fi
# Anew only where the lock file has changed since.
if ! cmp -s package-lock.json node_modules/.package-lock.of; then
    if ! npm ci --silent --no-audit --no-fund >/dev/null 2>&1; then
        echo "skipped: the packages that build the page could not be installed, so it is not built anew, nor tried in a browser" >&2
        exit 0
    fi
    cp package-lock.json node_modules/.package-lock.of
fi
npm run --silent check

CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
if [ -z "$CHROMIUM" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 || true
    CHROMIUM=$(command -v chromium || true)
fi
if [ -z "$CHROMIUM" ]; then
    echo "skipped: no Chromium here, so the page is not tried in a browser" >&2
    exit 0
fi
export CHROMIUM
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! npm test --silent >"$log" 2>&1; then
    cat "$log"
    exit 1
fi
grep -E '^ℹ (tests|pass|fail|skipped) ' "$log"
