#!/bin/sh
# Installs walletlake on this machine for nightly exports. install.md is the step-by-step guide.
#
#   sudo sh install.sh walletlake-0.1.0.tgz [job.yaml …]
#
# `npm pack` creates the tarball. Job files are copied to /etc/walletlake/jobs. To upgrade, run the script again with a
# newer tarball: jobs, key, settings and exports are kept.
#
# With DESTDIR=FOLDER, all files are put below that folder, no user is created and root is not needed. Use it to inspect
# the files, or to build a package.
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

# Checks everything that can be checked before the first file is written.
check() {
  [ $# -gt 0 ] || refuse 'found no tarball' 'sh install.sh walletlake-0.1.0.tgz [job.yaml …]; npm pack creates it.'
  for file in "$@"; do
    [ -f "$file" ] || refuse "found no file $file" 'Check the name.'
  done
  case $1 in *.tgz) ;; *) refuse "found $1, expected a tarball" 'Name the tarball first; npm pack creates it.' ;; esac
  shift
  for job in "$@"; do
    case $job in *.yaml) ;; *) refuse "found $job, expected a job" 'Give it a name that ends in .yaml.' ;; esac
  done
  [ -n "$root" ] || check_machine
  check_node
}

check_machine() {
  [ "$(id -u)" = 0 ] || refuse 'this needs root' 'Run it with sudo, or set DESTDIR to a folder to inspect the files first.'
  # Search programs where services and cron find them, not in the PATH of the user.
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  if has_systemd && [ "$(systemctl show --property ActiveState --value walletlake.service)" = activating ]; then
    refuse 'a run is in progress' 'Wait until it ends, or stop it (the next run resumes): systemctl stop walletlake.service'
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

# Changes the owner (user:group) of a file or folder. Does nothing with DESTDIR, because the user does not exist there.
give() { [ -n "$root" ] || chown "$1" "$root$2"; }

install_program() {
  npm install --global --prefix "$root$program" --omit=dev --ignore-scripts \
    --no-audit --no-fund --no-update-notifier --loglevel=error "$1"
  mkdir -p "$root/usr/local/bin"
  [ -e "$root/usr/local/bin/walletlake" ] || ln -sf "$program/bin/walletlake" "$root/usr/local/bin/walletlake"
}

# Only the user and group walletlake and root can open these folders: the list of wallets is confidential.
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

# Creates an empty key file and the environment file of the service, unless they exist.
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
# Environment variables of walletlake.service. Quote values that contain spaces or #.
WALLETLAKE_API_KEY_FILE=$settings/key
# Database to load into. The default is $state/output/lake.db (DuckDB).
#WALLETLAKE_LOAD_TO=postgres://walletlake@db.example.com/lake
#PGPASSFILE=$settings/pgpass
#WALLETLAKE_PING_URL=https://hc-ping.com/...
END
}

install_units() {
  mkdir -p "$root/etc/systemd/system"
  for unit in walletlake.service walletlake-failed.service walletlake.timer; do
    install -m 644 "$root$program/lib/node_modules/walletlake/jobs/schedule/$unit" "$root/etc/systemd/system/$unit"
  done
  [ -n "$root" ] || ! has_systemd || systemctl daemon-reload
}

say_next() {
  printf 'walletlake %s is installed in %s.\n' "$("$root$program/bin/walletlake" --version)" "$root$program"
  [ -z "$root" ] || return 0
  printf 'Next:\n'
  set -- "$settings"/jobs/*.yaml
  [ -e "$1" ] || printf '  put your job files (*.yaml) into %s/jobs\n' "$settings"
  [ -s "$settings/key" ] || printf '  put your API key into %s/key\n' "$settings"
  cat <<END
  sudo walletlake validate '$settings/jobs/*.yaml'
  sudo systemctl enable --now walletlake.timer     run every night (for cron see install.md)
  sudo systemctl start walletlake.service          run once, now
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
