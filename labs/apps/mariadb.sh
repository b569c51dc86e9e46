#!/bin/sh
# A MariaDB of one subject: it listens on the socket mariadb.sock in the subject's folder and nowhere else, and its data are
# gone with the folder. The service of the system is left alone.
#   mariadb.sh check php              ends with 0 where PHP can have one, and otherwise says what is missing
#   mariadb.sh check python MODULE    the same for the Python that has MODULE
#   mariadb.sh run FOLDER             serves until it is ended
set -eu
here=$(dirname "$(realpath "$0")")
PATH=$PATH:/usr/sbin

missing() {
    echo "$1"
    exit 1
}

# Where the lab looks: VERVET_LAB_PYTHON, what labs/setup has made, and the system's.
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
    # Without tables of rights there is nothing to install first, and whoever can open the socket may in. Each commit is
    # written at once and synchronized each second, which is what SQLite does here.
    set -- --no-defaults --datadir="$folder/mariadb" --socket="$folder/mariadb.sock" --pid-file="$folder/mariadb.pid" \
        --skip-networking --skip-grant-tables --init-file="$folder/mariadb.sql" --max-connections=300 \
        --innodb-flush-log-at-trx-commit=2 --innodb-log-file-size=32M --innodb-buffer-pool-size=64M
    [ "$(id -u)" != 0 ] || set -- "$@" --user=root
    exec mariadbd "$@"
    ;;
esac
