<?php
// The page that shows a picture, inserts a row and reads the count, from SQLite.
$database = new PDO('sqlite:' . __DIR__ . '/visits.sqlite', null, null, [
    PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
    PDO::ATTR_PERSISTENT => true,
    PDO::ATTR_TIMEOUT => 30,
]);
$database->exec('PRAGMA busy_timeout = 30000');
$database->exec('PRAGMA journal_mode = WAL');
$database->exec('PRAGMA synchronous = NORMAL');
$database->exec('CREATE TABLE IF NOT EXISTS visit (id INTEGER PRIMARY KEY, moment REAL)');
$database->exec("INSERT INTO visit (moment) VALUES (julianday('now'))");
$count = $database->query('SELECT count(*) FROM visit')->fetchColumn();
$content = "<!doctype html><img src=/picture.png alt=picture><p>Visit $count</p>\n";
header('Content-Type: text/html; charset=utf-8');
header('Content-Length: ' . strlen($content));
echo $content;
