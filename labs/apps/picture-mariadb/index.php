<?php
// The page that shows a picture, inserts a row and reads the count, from MariaDB.
$database = new PDO('mysql:unix_socket=' . dirname(__DIR__, 2) . '/mariadb.sock;dbname=lab', 'lab', '', [
    PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
    PDO::ATTR_PERSISTENT => true,
]);
$database->exec('INSERT INTO visit (moment) VALUES (UNIX_TIMESTAMP(NOW(6)))');
$count = $database->query('SELECT count(*) FROM visit')->fetchColumn();
$content = "<!doctype html><img src=/picture.png alt=picture><p>Visit $count</p>\n";
header('Content-Type: text/html; charset=utf-8');
header('Content-Length: ' . strlen($content));
echo $content;
