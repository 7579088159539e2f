# Takes the package through its life cycle in a bare Debian; deploy/packaging/check runs it inside: sh -eu life.sh.
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 CAMEO_STORE=/var/lib/cameo/pictures
unit=cameo-worker@pictures
package=$(dpkg-deb -f /shared/cameo.deb Package)
step() { echo "- $*"; }
fail() {
    echo "FAILED: $*"
    journalctl --no-pager -u "$unit" | tail -20
    exit 1
}
same() { [ "$1" = "$2" ] || fail "$3: $1, not $2"; }
# Runs a command as an application's user.
as() {
    user=$1
    shift
    runuser -u "$user" -- env "CAMEO_STORE=$CAMEO_STORE" "$@"
}
pid() { systemctl show --property MainPID --value "$unit"; }

step "there is no Swift on this system"
[ -z "$(find / -xdev \( -name swift -o -name 'libswift*' -o -name 'libFoundation*' \))" ] || fail "there is one"

step "apt installs the package"
apt-get -qq update
apt-get -qq install -y --no-install-recommends /shared/cameo.deb >/dev/null 2>/tmp/apt || fail "$(cat /tmp/apt)"
for program in /usr/bin/cameo-*; do
    ! ldd "$program" | grep -v -E '=> /lib/|linux-vdso|/lib64/ld-|/lib/ld-' || fail "$program needs these libraries"
done

step "the worker runs as the user cameo in its sandbox"
systemctl is-enabled --quiet "$unit" || fail "it will not start at boot"
systemctl is-active --quiet "$unit" || fail "it has not started"
same "$(stat -c %U "/proc/$(pid)")" cameo "the worker's user"
same "$(stat -c '%a %U %G' $CAMEO_STORE)" "2770 cameo cameo" "the store's folder"
grep -q '^CAMEO_REQUIRE_SANDBOX=1' /etc/cameo/pictures.conf || fail "the configuration does not require the sandbox"

step "an application of another user in the group enqueues pictures and reads thumbnails"
adduser --quiet --system --no-create-home shop
adduser --quiet --system --no-create-home stranger
adduser --quiet shop cameo
for picture in /shared/pictures/*; do
    as shop cameo-enqueue --data --size 256x256:cover:webp --size 1600x:png --wait <"$picture" >/tmp/receipt ||
        fail "$picture: $(cat /tmp/receipt)"
    for uri in $(grep -o 'cameo://thumb/[0-9a-f]*' /tmp/receipt); do
        as shop cameo-status cat "$uri" >/tmp/thumbnail || fail "cat $uri"
        head -c 12 /tmp/thumbnail | grep -a -q -E 'PNG|WEBP' || fail "$uri is not a picture"
    done
done
[ -n "$(find $CAMEO_STORE/blobs -type f -user shop)" ] || fail "no upload was stored as a file"
[ -n "$(find $CAMEO_STORE/blobs -type f -user cameo)" ] || fail "no thumbnail was stored as a file"

if [ -e /shared/cameo-frames.deb ]; then
    step "with cameo-frames, the running worker makes thumbnails of videos"
    ! as shop cameo-enqueue --data --size 64x64 --wait </shared/clip.mp4 >/tmp/receipt 2>&1 || fail "without it too"
    apt-get -qq install -y --no-install-recommends /shared/cameo-frames.deb >/dev/null 2>/tmp/apt || fail "$(cat /tmp/apt)"
    as shop cameo-enqueue --data --size 64x:png --storyboard 2x2 --wait </shared/clip.mp4 >/tmp/receipt ||
        fail "a video: $(cat /tmp/receipt)"
fi

step "the application enqueues by SQL"
apt-get -qq install -y --no-install-recommends sqlite3 >/dev/null 2>&1
as shop sqlite3 $CAMEO_STORE/cameo.sqlite ".timeout 10000" "PRAGMA wal_autocheckpoint=0" \
    "INSERT INTO job(request) VALUES (json('{\"source\":\"initials:Ada\",\"renditions\":[{\"width\":64}]}'))" >/dev/null
job=$(as shop sqlite3 $CAMEO_STORE/cameo.sqlite "SELECT max(id) FROM job")
as shop cameo-status job "$job" --wait >/tmp/job || fail "$(cat /tmp/job)"

step "other users are refused"
for command in "cameo-enqueue initials:Eve" cameo-status; do
    # shellcheck disable=SC2086 # word splitting is intended
    as stranger $command >/dev/null 2>&1 && fail "a stranger may run $command"
done
as shop cameo-admin check >/tmp/check || fail "$(cat /tmp/check)"
grep -q 'the group that shares the store can use all of it' /tmp/check || fail "$(cat /tmp/check)"

step "the web server serves the thumbnails on a socket for the group"
apt-get -qq install -y --no-install-recommends curl >/dev/null 2>&1
web=cameo-web@pictures
! systemctl is-active --quiet "$web" || fail "it was started unasked"
systemctl start "$web"
load() { as "$1" curl -sS --retry 20 --retry-connrefused --retry-delay 1 --unix-socket /run/cameo-web/pictures/socket "$2"; }
until [ -S /run/cameo-web/pictures/socket ]; do systemctl is-active --quiet "$web" || fail "$(journalctl -u "$web")"; done
load shop "http://localhost/thumb/${uri##*/}" | cmp - /tmp/thumbnail || fail "it serves other bytes"
load shop http://localhost/health/ready >/tmp/ready
grep -q '"status":"ok"' /tmp/ready || fail "$(cat /tmp/ready)"
load stranger http://localhost/health/live >/dev/null 2>&1 && fail "a stranger may use the socket"

step "a socket unit starts it at the first connection"
systemctl stop "$web"
systemctl enable --now "$web.socket" 2>/dev/null
! systemctl is-active --quiet "$web" || fail "it runs before the first connection"
as shop curl -sS --unix-socket /run/cameo-web-pictures.socket "http://localhost/thumb/${uri##*/}" | cmp - /tmp/thumbnail ||
    fail "it serves other bytes"
systemctl is-active --quiet "$web" || fail "it was not started"

[ "$package" = cameo ] || . /shared/life-fleet.sh

step "the worker stops, starts, and an update replaces it"
systemctl stop "$unit"
same "$(systemctl show --property Result,ExecMainStatus --value "$unit" | paste -s -d' ')" "success 0" "the end"
systemctl start "$unit"
old=$(pid)
apt-get -qq install -y --reinstall /shared/cameo.deb >/dev/null 2>&1
systemctl is-active --quiet "$unit" || fail "it does not run after an update"
[ "$(pid)" != "$old" ] || fail "the old worker still runs"
systemctl is-active --quiet "$web" || fail "the web server does not run after an update"

step "the package contains the manual, completions and examples"
for file in man/man1/cameo-enqueue.1.gz bash-completion/completions/cameo-enqueue \
    zsh/vendor-completions/_cameo-enqueue fish/vendor_completions.d/cameo-enqueue.fish "doc/$package/copyright"; do
    # A minimal Debian does not unpack manuals and documentation (dpkg's path-exclude), but the package lists them.
    dpkg -L "$package" | grep -q "/usr/share/$file" || fail "$file is missing"
done
bash -c '. /usr/share/bash-completion/completions/cameo-enqueue; complete -p cameo-enqueue' >/dev/null ||
    fail "bash cannot read the completions"

step "removal keeps the store; reinstallation resumes it"
jobs=$(as shop sqlite3 $CAMEO_STORE/cameo.sqlite "SELECT count(*) FROM job")
apt-get -qq remove -y "$package" >/dev/null 2>&1
! systemctl is-active --quiet "$unit" "$web" || fail "it runs after its removal"
apt-get -qq install -y --no-install-recommends /shared/cameo.deb >/dev/null 2>&1
systemctl is-active --quiet "$unit" || fail "it does not run"
same "$(as shop sqlite3 $CAMEO_STORE/cameo.sqlite "SELECT count(*) FROM job")" "$jobs" "jobs"

step "purging leaves nothing but the user"
apt-get -qq purge -y "$package" >/dev/null 2>&1
left=$(find / -xdev -name '*cameo*' ! -path '/proc/*' ! -path '/shared/*' ! -path '/var/log/*' ! -path '/tmp/*')
[ -z "$left" ] || fail "$left"
