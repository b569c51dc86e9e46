#!/bin/sh
# A MariaDB for one subject: it listens only on the socket mariadb.sock in the subject's folder, and its data are removed
# with the folder. The system's own service is not touched.
#   mariadb.sh check php              exits with 0 if PHP can use MariaDB, otherwise prints what is missing
#   mariadb.sh check python MODULE    the same for Python and its MODULE
#   mariadb.sh run FOLDER             serves until it is stopped
set -eu
here=$(dirname "$(realpath "$0")")
PATH=$PATH:/usr/sbin

missing() {
    echo "$1"
    exit 1
}

# Where the lab looks for Python: VERVET_LAB_PYTHON, the environment of labs/setup, the system.
python_with() {
    asked=${VERVET_LAB_PYTHON:-}
    [ ! -d "$asked" ] || asked=$asked/bin/python
    for python in "$asked" "$here/../python/bin/python" "$(command -v python3)"; do
        if [ -x "$python" ] && "$python" -c "import $1" 2>/dev/null; then
            "$python" -c 'import pymysql' 2>/dev/null
            return
        fi
    done
    return 1
}

case $1 in
check)
    command -v mariadbd >/dev/null || missing 'mariadbd is not installed: install the Debian package mariadb-server'
    case $2 in
    php)
        ls /usr/lib/php/*/pdo_mysql.so >/dev/null 2>&1 ||
            missing 'pdo_mysql is not installed: install the Debian package php-mysql'
        ;;
    python) python_with "$3" || missing 'PyMySQL is not installed: run labs/setup, which installs it by pip' ;;
    esac
    ;;
run)
    folder=$2
    mkdir "$folder/mariadb"
    cat >"$folder/mariadb.sql" <<'SQL'
CREATE DATABASE lab;
CREATE TABLE lab.visit (id INTEGER PRIMARY KEY AUTO_INCREMENT, moment DOUBLE) ENGINE = InnoDB;
SQL
    # Without grant tables there is nothing to install first, and anyone who can open the socket has access. Commits are
    # written at once and synchronized every second, as SQLite is configured here.
    set -- --no-defaults --datadir="$folder/mariadb" --socket="$folder/mariadb.sock" --pid-file="$folder/mariadb.pid" \
        --skip-networking --skip-grant-tables --init-file="$folder/mariadb.sql" --max-connections=300 \
        --innodb-flush-log-at-trx-commit=2 --innodb-log-file-size=32M --innodb-buffer-pool-size=64M
    [ "$(id -u)" != 0 ] || set -- "$@" --user=root
    exec mariadbd "$@"
    ;;
esac
