<?php
header('Content-Type: text/html; charset=utf-8');
$content = 'Hello, ' . htmlspecialchars($_GET['name'] ?? 'World') . "\n";
header('Content-Length: ' . strlen($content));
echo $content;
