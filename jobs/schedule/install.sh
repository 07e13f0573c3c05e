#!/bin/sh
# Installs walletlake on this machine, to export wallets every night. install.md beside it tells the whole way.
#
#   sudo sh install.sh walletlake-0.1.0.tgz [job.yaml …]
#
# The tarball is what `npm pack` makes. Job files are copied to /etc/walletlake/jobs. Run it again with a newer
# tarball to upgrade: jobs, key, settings and exports stay as they are.
#
# DESTDIR=FOLDER puts every file below that folder instead, makes no user and needs no root: for a look, or a package.
set -eu
umask 022

program=/opt/walletlake
settings=/etc/walletlake
state=/var/lib/walletlake
root=${DESTDIR:-}
needs=20.19

refuse() {
  printf 'install.sh: %s\nfix: %s\n' "$1" "$2" >&2
  exit 2
}

# Checks everything that can be checked before anything is written.
check() {
  [ $# -gt 0 ] || refuse 'found no tarball' 'sh install.sh walletlake-0.1.0.tgz [job.yaml …]; npm pack makes it.'
  for file in "$@"; do
    [ -f "$file" ] || refuse "found no file $file" 'Check the name.'
  done
  case $1 in *.tgz) ;; *) refuse "found $1, expected a tarball" 'Name the tarball first; npm pack makes it.' ;; esac
  shift
  for job in "$@"; do
    case $job in *.yaml) ;; *) refuse "found $job, expected a job" 'Give it a name that ends in .yaml.' ;; esac
  done
  [ -n "$root" ] || check_machine
  check_node
}

check_machine() {
  [ "$(id -u)" = 0 ] || refuse 'this needs root' 'Run it with sudo, or set DESTDIR to a folder for a look.'
  # Services and cron look for programs here, not where a user's own shell does.
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  if has_systemd && [ "$(systemctl show --property ActiveState --value walletlake.service)" = activating ]; then
    refuse 'a run is under way' 'Wait, or stop it (the next one resumes): systemctl stop walletlake.service'
  fi
}

check_node() {
  for name in node npm; do
    command -v "$name" >/dev/null || refuse "found no $name in $PATH" 'Install Node and npm: see install.md.'
  done
  fits="const at = (v) => v.split('.').map(Number), [a, b] = at(process.versions.node), [c, d] = at('$needs')
    process.exit(a > c || (a === c && b >= d) ? 0 : 1)"
  node -e "$fits" || refuse "found Node $(node --version), expected $needs or later" 'Install it: see install.md.'
}

has_systemd() { [ -d /run/systemd/system ]; }

make_user() {
  getent passwd walletlake >/dev/null ||
    useradd --system --user-group --home-dir "$state" --no-create-home --shell /usr/sbin/nologin walletlake
}

# Gives a file or folder to an owner, user:group; nothing below DESTDIR, where there is no such user.
give() { [ -n "$root" ] || chown "$1" "$root$2"; }

install_program() {
  npm install --global --prefix "$root$program" --omit=dev --ignore-scripts \
    --no-audit --no-fund --no-update-notifier --loglevel=error "$1"
  mkdir -p "$root/usr/local/bin"
  [ -e "$root/usr/local/bin/walletlake" ] || ln -sf "$program/bin/walletlake" "$root/usr/local/bin/walletlake"
}

# Only the service's user and root may look into either folder: wallets are nobody else's business.
make_folders() {
  mkdir -p "$root$settings/jobs" "$root$state"
  chmod 750 "$root$settings" "$root$state"
  give root:walletlake "$settings"
  give walletlake:walletlake "$state"
}

copy_jobs() {
  for job in "$@"; do
    target=$root$settings/jobs/$(basename "$job")
    if [ -e "$target" ]; then
      printf 'kept %s\n' "$target"
    else
      install -m 644 "$job" "$target"
    fi
  done
}

# Makes an empty key file and the environment of the service, where they are not there yet.
make_secrets() {
  for name in key environment; do
    [ -e "$root$settings/$name" ] && continue
    install -m 600 /dev/null "$root$settings/$name"
    [ "$name" = key ] || print_environment >"$root$settings/$name"
  done
  for name in key environment; do
    chmod 600 "$root$settings/$name"
    give walletlake:walletlake "$settings/$name"
  done
}

print_environment() {
  cat <<END
# Variables of walletlake.service. Quote a value that has blanks or a #.
WALLETLAKE_API_KEY_FILE=$settings/key
# The database to load into; without it, $state/output/lake.db (DuckDB).
#WALLETLAKE_LOAD_TO=postgres://walletlake@db.example.com/lake
#PGPASSFILE=$settings/pgpass
#WALLETLAKE_PING_URL=https://hc-ping.com/...
END
}

install_units() {
  mkdir -p "$root/etc/systemd/system"
  for unit in walletlake.service walletlake.timer; do
    install -m 644 "$root$program/lib/node_modules/walletlake/jobs/schedule/$unit" "$root/etc/systemd/system/$unit"
  done
  [ -n "$root" ] || ! has_systemd || systemctl daemon-reload
}

say_next() {
  printf 'walletlake %s is installed in %s.\n' "$("$root$program/bin/walletlake" --version)" "$root$program"
  [ -z "$root" ] || return 0
  printf 'Next:\n'
  set -- "$settings"/jobs/*.yaml
  [ -e "$1" ] || printf '  put your jobs into %s/jobs, names ending in .yaml\n' "$settings"
  [ -s "$settings/key" ] || printf '  put the key of your service into %s/key\n' "$settings"
  cat <<END
  sudo walletlake validate '$settings/jobs/*.yaml'
  sudo systemctl enable --now walletlake.timer     every night; with cron: see install.md
  sudo systemctl start walletlake.service          once, now
END
}

check "$@"
tarball=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
[ -n "$root" ] || make_user
install_program "$tarball"
make_folders
copy_jobs "$@"
make_secrets
install_units
say_next
