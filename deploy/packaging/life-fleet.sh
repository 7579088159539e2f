# A part of life.sh, for the package cameo-fleet: the services on a database with passwords, and a folder for the bytes.
database=postgres://pictures@127.0.0.1/pictures

step "the services move to the database that /etc/cameo/pictures.store names"
apt-get -qq install -y --no-install-recommends postgresql >/dev/null 2>/tmp/apt || fail "$(cat /tmp/apt)"
sql() { runuser -u postgres -- psql -X -q -At -v ON_ERROR_STOP=1 "$@"; }
sql -c "CREATE ROLE pictures LOGIN PASSWORD 'cut glass'" -c "CREATE DATABASE pictures OWNER pictures"
for user in cameo shop; do
    echo '127.0.0.1:*:pictures:pictures:cut glass' | install -o "$user" -m 600 /dev/stdin "/etc/cameo/$user.pgpass"
done
install -d -o cameo -g cameo -m 2770 /srv/bytes
cat >/etc/cameo/pictures.store <<STORE
CAMEO_STORE='$database?application_name=life&schema=cameo'
PGPASSFILE=/etc/cameo/cameo.pgpass
CAMEO_BLOBS=/srv/bytes
STORE
chmod 600 /etc/cameo/pictures.store
for service in "$unit" "$web"; do
    mkdir "/etc/systemd/system/$service.service.d"
    printf '[Service]\nReadWritePaths=/srv/bytes\n' >"/etc/systemd/system/$service.service.d/bytes.conf"
done
systemctl daemon-reload
systemctl restart "$unit" "$web"
fleet() { runuser -u shop -- env "CAMEO_STORE=$database" PGPASSFILE=/etc/cameo/shop.pgpass "$@"; }

step "an application of another user enqueues pictures there and reads thumbnails"
before=$(as shop cameo-status --json)
for picture in /shared/pictures/*; do
    fleet cameo-enqueue --data --size 256x256:cover:webp --size 1600x:png --wait <"$picture" >/tmp/receipt ||
        fail "$picture: $(cat /tmp/receipt)"
done
fleet_uri=$(grep -o 'cameo://thumb/[0-9a-f]*' /tmp/receipt | tail -1)
fleet cameo-status cat "$fleet_uri" >/tmp/fleet-thumbnail || fail "cat $fleet_uri"
head -c 12 /tmp/fleet-thumbnail | grep -a -q PNG || fail "$fleet_uri is not a picture"
as shop curl -sS --unix-socket /run/cameo-web-pictures.socket "http://localhost/thumb/${fleet_uri##*/}" |
    cmp - /tmp/fleet-thumbnail || fail "the web server serves other bytes"
[ -n "$(find /srv/bytes -type f -user cameo -size +100k)" ] || fail "no thumbnail is in the shared folder"
same "$(sql -d pictures -c "SELECT count(*) FROM cameo.job_status WHERE state = 'completed'")" \
    "$(find /shared/pictures -type f | wc -l)" "completed jobs"
counts='"jobs":{[^}]*}'
same "$(as shop cameo-status --json | grep -o "$counts" | head -1)" "$(echo "$before" | grep -o "$counts" | head -1)" \
    "jobs of the folder's store"

step "others have no password, and redirects need a bucket"
runuser -u stranger -- env "CAMEO_STORE=$database" cameo-status >/tmp/refused 2>&1 && fail "a stranger may read it"
! grep -q 'cut glass' /tmp/refused || fail "the password is told"
! journalctl --no-pager -u "$unit" -u "$web" | grep -q 'cut glass' || fail "the password is in the journal"
! journalctl --no-pager -u "$unit" | grep 'denies access' || fail "the service may not write to the folder"
! fleet cameo-web --listen 127.0.0.1:0 --redirect-blobs >/tmp/refused 2>&1 || fail "it redirects to a folder"
grep -q 'keeps no pictures in a bucket' /tmp/refused || fail "$(cat /tmp/refused)"

step "without the file, they are back on the folder"
rm -r /etc/cameo/pictures.store /etc/cameo/*.pgpass "/etc/systemd/system/$unit.service.d" \
    "/etc/systemd/system/$web.service.d"
systemctl daemon-reload
systemctl restart "$unit" "$web"
# It is the administrator's, so that the package's removal leaves it.
rm -r /srv/bytes
as shop curl -sS --unix-socket /run/cameo-web-pictures.socket "http://localhost/thumb/${uri##*/}" |
    cmp - /tmp/thumbnail || fail "it serves other bytes"
# Also that the worker is up again, before it is stopped.
as shop cameo-enqueue --size 64x64 --wait 'initials:Grace' >/tmp/receipt 2>&1 || fail "$(cat /tmp/receipt)"
