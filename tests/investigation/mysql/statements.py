"""Statements as data: what may be asked, with what it means, and what is refused, with its code."""

from agrajag.investigation.mysql import SqlCode, SqlTables

SHOP = SqlTables(
    "shop",
    {
        "orders": ("id", "customer_id", "status", "amount", "created_at", "note"),
        "customers": ("id", "name", "city"),
        "订单": ("id", "编号"),
    },
)
"""What the tests may read. The schema has a table `secrets` as well, and orders and customers a column `secret`."""

ACCEPTED = (
    "SELECT * FROM orders ORDER BY id",
    "select ID, Status from orders where ID = 1",
    "SELECT o.*, c.name FROM orders o JOIN customers AS c ON c.id = o.customer_id ORDER BY o.id DESC LIMIT 3;",
    "SELECT o.id, c.name FROM shop.orders o LEFT JOIN `shop`.`customers` c ON c.id = o.customer_id ORDER BY 1",
    "SELECT c.name, o.id FROM orders o RIGHT JOIN customers c ON c.id = o.customer_id ORDER BY c.id, o.id",
    "SELECT o.id, c.id FROM orders o, customers c WHERE o.customer_id = c.id ORDER BY o.id",
    "SELECT o.id, c.id FROM orders o CROSS JOIN customers c ORDER BY o.id, c.id LIMIT 4, 3",
    "SELECT status, COUNT(*) AS n, SUM(amount) FROM orders GROUP BY status HAVING n > 1 ORDER BY n DESC, status",
    "SELECT DATE(created_at) AS d, COUNT(DISTINCT customer_id, status) n FROM orders GROUP BY d ORDER BY 2 DESC, d",
    "SELECT YEAR(created_at), MAX(amount) FROM orders GROUP BY 1",
    "SELECT id AS amount FROM orders ORDER BY amount DESC",
    "SELECT id AS secret FROM orders ORDER BY secret DESC LIMIT 2",
    "SELECT -id AS id FROM orders ORDER BY id",
    "SELECT DISTINCT status FROM orders ORDER BY status",
    (
        "WITH big AS (SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY customer_id) "
        "SELECT c.name, big.total FROM big JOIN customers c ON c.id = big.customer_id "
        "WHERE total > 10 ORDER BY total DESC LIMIT 2 OFFSET 1"
    ),
    (
        "WITH a AS (SELECT id FROM orders WHERE id < 4), b AS (SELECT id FROM a WHERE id > 1) "
        "SELECT id FROM b UNION ALL SELECT id FROM a ORDER BY id"
    ),
    "WITH customers AS (SELECT name FROM customers WHERE id = 1) SELECT name FROM customers",
    "SELECT x.n FROM (SELECT COUNT(*), 1 AS n FROM orders) x",
    "SELECT id FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE city LIKE 'Ber%') ORDER BY id",
    (
        "SELECT id FROM orders WHERE NOT EXISTS (SELECT 1 FROM orders o2 WHERE o2.customer_id = orders.customer_id "
        "AND o2.id < orders.id) ORDER BY id"
    ),
    "SELECT name, (SELECT COUNT(*) FROM orders WHERE customer_id = customers.id) AS n FROM customers ORDER BY name",
    (
        "SELECT id FROM orders UNION (SELECT id FROM customers ORDER BY name LIMIT 1) UNION ALL SELECT 3 FROM orders "
        "WHERE id = 1 ORDER BY id DESC LIMIT 2, 5"
    ),
    (
        "SELECT id FROM orders WHERE status NOT IN ('paid', 'new') AND amount NOT BETWEEN 1 AND 2 "
        "AND note NOT LIKE '%x' AND (id, customer_id) IN ((3, 2), (4, 1)) ORDER BY id"
    ),
    "SELECT id FROM orders WHERE note LIKE '100!%%' ESCAPE '!'",
    "SELECT id FROM orders WHERE note LIKE '100%' AND NOT note IS NULL",
    'SELECT id FROM orders WHERE note = \'it\'\'s "so"\' OR note = "it\'s ""so"""',
    "SELECT id FROM orders WHERE note <=> NULL ORDER BY id",
    (
        "SELECT CASE WHEN amount > 10 AND (status = 'paid' OR status='new') OR note IS NULL THEN -amount "
        "ELSE amount % 3 END, IF(amount IS NULL, 'n', CONCAT('it''s ', amount)) AS `the text` FROM orders ORDER BY id"
    ),
    "SELECT CASE status WHEN 'paid' THEN 1 WHEN 'new' THEN 2 END AS s FROM orders ORDER BY id",
    (
        "SELECT CAST(amount AS DECIMAL(10,1)), CAST(created_at AS DATETIME(3)), CAST(id AS UNSIGNED), "
        "CAST(id AS SIGNED), CAST(id AS CHAR), CAST(status AS BINARY), CAST(amount AS DOUBLE), CAST(note AS CHAR(2)), "
        "DATE '2026-01-01' FROM orders ORDER BY id"
    ),
    (
        "SELECT TRIM(LEADING 'p' FROM status), TRIM(status), SUBSTRING(status FROM 2 FOR 2), SUBSTR(status, 2), "
        "LEFT(status,3), RIGHT(status,2), REPLACE(status,'a','b'), MID(status,2,1), LOCATE('a', status) "
        "FROM orders ORDER BY id"
    ),
    (
        "SELECT EXTRACT(HOUR FROM created_at), TIMESTAMPDIFF(MINUTE, created_at, '2026-02-01'), WEEK(created_at, 1), "
        "DATE_FORMAT(created_at, '%Y-%m'), DATE_ADD(created_at, INTERVAL 36 HOUR), created_at - INTERVAL 1 DAY, "
        "TIMESTAMPADD(DAY, 2, created_at), UNIX_TIMESTAMP(created_at), TO_DAYS(created_at), "
        "created_at + INTERVAL '1:30' MINUTE_SECOND FROM orders ORDER BY id"
    ),
    (
        "SELECT GROUP_CONCAT(DISTINCT status ORDER BY status DESC SEPARATOR '; '), GROUP_CONCAT(id ORDER BY id), "
        "STDDEV(amount), MIN(note), AVG(amount), COUNT(note) FROM orders"
    ),
    (
        "SELECT MOD(id,3), id DIV 2, id / 2, CEIL(amount), FLOOR(amount), ROUND(amount, 1), LOG(2, 8), POW(id, 2), "
        "GREATEST(id, 2, customer_id), COALESCE(note, 'none'), IFNULL(note, ''), NULLIF(id, 1) FROM orders ORDER BY id"
    ),
    (
        "SELECT id FROM orders WHERE created_at <= NOW() AND created_at < CURRENT_TIMESTAMP "
        "AND created_at > '2020-01-01' AND DATE(created_at) < CURDATE() ORDER BY id"
    ),
    "SELECT 编号 AS 号码 FROM 订单 WHERE 编号 = '甲　乙' ORDER BY id",
    "SELECT JSON_VALUE(note, '$.a') FROM orders WHERE JSON_VALID(note) ORDER BY id",
    "SELECT JSON_EXTRACT(note, '$[0].\"token count\".b') FROM orders WHERE JSON_VALID(note) ORDER BY id",
    "SELECT id + 1 - 2 + 3 - (4 - 5) - 6 * 7 / 2 DIV 3 % 4 * 2 | 8 & 9 | 1 AS v FROM orders ORDER BY id",
    "SELECT id FROM orders WHERE id + id + id + id + id + id + id + id + id + id + id + id + id + id + id > 30",
    "SELECT COUNT(*) FROM orders LIMIT 0",
)

_NOT_ALLOWED = SqlCode.SQL_NOT_ALLOWED
_NOT_PARSED = SqlCode.SQL_NOT_PARSED
_NOT_ONE = SqlCode.SQL_NOT_ONE_SELECT
_TABLE = SqlCode.TABLE_NOT_ALLOWED
_COLUMN = SqlCode.COLUMN_NOT_ALLOWED
_FUNCTION = SqlCode.FUNCTION_NOT_ALLOWED
_AMBIGUOUS = SqlCode.COLUMN_AMBIGUOUS
_COMPLEX = SqlCode.SQL_TOO_COMPLEX

REFUSED = (
    # --- comments, and what servers find in them ---
    ("SELECT id FROM orders /*!50000 INTO OUTFILE '/tmp/x' */", _NOT_ALLOWED),
    ("SELECT id FROM orders /*M!100100 WHERE SLEEP(1)*/", _NOT_ALLOWED),
    ("SELECT /*+ SET_VAR(max_execution_time=0) */ id FROM orders", _NOT_ALLOWED),
    ("SELECT id -- x\nFROM orders", _NOT_ALLOWED),
    ("SELECT id # x\nFROM orders", _NOT_ALLOWED),
    ("/* x */ SELECT id FROM orders", _NOT_ALLOWED),
    ("SELECT id FROM orders /* x */", _NOT_ALLOWED),
    ("SELECT id FROM orders /* x", _NOT_PARSED),
    ("SELECT id/**/FROM/**/orders", _NOT_ALLOWED),
    # --- to files and variables, and from them ---
    ("SELECT id FROM orders INTO OUTFILE '/tmp/x'", _NOT_PARSED),
    ("SELECT id INTO OUTFILE '/tmp/x' FROM orders", _NOT_PARSED),
    ("SELECT id FROM orders INTO DUMPFILE '/tmp/x'", _NOT_PARSED),
    ("SELECT id INTO @x FROM orders", _NOT_ALLOWED),
    ("SELECT LOAD_FILE('/etc/passwd') FROM orders", _FUNCTION),
    ("SELECT @a FROM orders", _NOT_ALLOWED),
    ("SELECT @a := id FROM orders", _NOT_ALLOWED),
    ("SELECT @@version, id FROM orders", _NOT_ALLOWED),
    ("SELECT @@global.secure_file_priv FROM orders", _NOT_ALLOWED),
    ("SELECT id FROM orders LIMIT @x", _NOT_ALLOWED),
    # --- functions that wait, lock, tell of the server, or grow ---
    ("SELECT SLEEP(5) FROM orders", _FUNCTION),
    ("SELECT sleep (5) FROM orders", _FUNCTION),
    ("SELECT `sleep`(5) FROM orders", _FUNCTION),
    ("SELECT BENCHMARK(1000000, MD5(id)) FROM orders", _FUNCTION),
    ("SELECT GET_LOCK('x', 10) FROM orders", _FUNCTION),
    ("SELECT RELEASE_ALL_LOCKS() FROM orders", _FUNCTION),
    ("SELECT USER() FROM orders", _FUNCTION),
    ("SELECT CURRENT_USER FROM orders", _NOT_ALLOWED),
    ("SELECT VERSION() FROM orders", _FUNCTION),
    ("SELECT DATABASE() FROM orders", _FUNCTION),
    ("SELECT LAST_INSERT_ID(5) FROM orders", _FUNCTION),
    ("SELECT EXTRACTVALUE(note, '/x') FROM orders", _FUNCTION),
    ("SELECT RAND() FROM orders", _FUNCTION),
    ("SELECT shop.f(id) FROM orders", _NOT_ALLOWED),
    ("SELECT f(id) FROM orders", _FUNCTION),
    ("SELECT NEXTVAL(s) FROM orders", _FUNCTION),
    ("SELECT REPEAT('a', 1000000000) FROM orders", _FUNCTION),
    ("SELECT ABS(1, 2) FROM orders", _FUNCTION),
    # --- what would hide a secret from being recognised: a text written otherwise, a part without its name ---
    ("SELECT HEX(note) FROM orders", _FUNCTION),
    ("SELECT REVERSE(note) FROM orders", _FUNCTION),
    ("SELECT JSON_VALUE(note, '$.password') AS p FROM orders", _COLUMN),
    ("SELECT JSON_UNQUOTE(JSON_EXTRACT(note, '$.login[0].\"apiKey\"')) AS p FROM orders", _COLUMN),
    ("SELECT JSON_EXTRACT(note, '$.pin') AS p FROM orders", _COLUMN),
    ("SELECT JSON_EXTRACT(note, '$.*') FROM orders", _COLUMN),
    ("SELECT JSON_EXTRACT(note, CONCAT('$.pass', 'word')) FROM orders", _COLUMN),
    ("SELECT MAX(*) FROM orders", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note REGEXP '(a+)+$'", _NOT_ALLOWED),
    # --- what else a SELECT may carry ---
    ("SELECT id FROM orders USE INDEX (PRIMARY)", _NOT_ALLOWED),
    ("SELECT id FROM orders FOR UPDATE", _NOT_ALLOWED),
    ("SELECT id FROM orders FOR SHARE SKIP LOCKED", _NOT_ALLOWED),
    ("SELECT id FROM orders LOCK IN SHARE MODE", _NOT_ALLOWED),
    ("SELECT id FROM orders PROCEDURE ANALYSE()", _NOT_PARSED),
    ("SELECT id FROM orders PARTITION (p0)", _NOT_ALLOWED),
    ("SELECT id FROM orders FOR SYSTEM_TIME ALL", _NOT_ALLOWED),
    ("SELECT SQL_CALC_FOUND_ROWS id FROM orders", _NOT_ALLOWED),
    ("SELECT STRAIGHT_JOIN id FROM orders", _NOT_ALLOWED),
    ("SELECT SUM(id) OVER () FROM orders", _NOT_ALLOWED),
    ("SELECT id FROM orders GROUP BY id WITH ROLLUP", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE id = ANY (SELECT id FROM customers)", _NOT_ALLOWED),
    ("SELECT note->>'$.x' FROM orders", _NOT_PARSED),
    ("SELECT id FROM orders WHERE 1 = 2 < 3", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note IN (1) NOT LIKE 2", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE (id > 0) IS TRUE", _NOT_ALLOWED),
    ("SELECT id FROM orders LIMIT 1e3", _NOT_ALLOWED),
    ("SELECT id FROM orders LIMIT (SELECT 1)", _NOT_ALLOWED),
    ("SELECT id FROM orders ORDER BY id NULLS LAST", _NOT_ALLOWED),
    (
        "WITH RECURSIVE x AS (SELECT 1 AS n FROM orders UNION ALL SELECT n+1 FROM x) SELECT n FROM x",
        _NOT_ALLOWED,
    ),
    ("SELECT id FROM orders EXCEPT SELECT id FROM customers", _NOT_ONE),
    ("SELECT a.id FROM orders a, customers b RIGHT JOIN customers c ON c.id = b.id", _NOT_ALLOWED),
    # --- literals that are read in more ways than one ---
    ("SELECT id FROM orders WHERE note = 'a\\\\'", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note LIKE '100\\%'", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note = '\\n'", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note = 'a\nb'", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note = '\u202e'", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note = '\ud800'", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note = 'a\x00'", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note = _gbk'x'", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note = N'x'", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note = X'41'", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note = 0x41", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note = b'1'", _NOT_ALLOWED),
    ("SELECT 'a' 'b' FROM orders", _NOT_ALLOWED),
    ("SELECT id FROM orders WHERE note = 'x' COLLATE utf8mb4_bin", _NOT_ALLOWED),
    ("SELECT CONVERT(note USING gbk) FROM orders", _NOT_PARSED),
    ("SELECT id AS `a``b` FROM orders", _NOT_ALLOWED),
    ("SELECT id AS 'a\\\\' FROM orders", _NOT_ALLOWED),
    # --- other tables ---
    ("SELECT table_name FROM information_schema.tables", _TABLE),
    ("SELECT user FROM `mysql`.`user`", _TABLE),
    ("SELECT * FROM performance_schema.threads", _TABLE),
    ("SELECT * FROM shop.secrets", _TABLE),
    ("SELECT * FROM secrets", _TABLE),
    ("SELECT id FROM def.shop.orders", _NOT_ALLOWED),
    ("SELECT id FROM \u043erders", _TABLE),
    ("SELECT id FROM shop\u2024orders", _TABLE),
    ("SELECT id FROM orders o, customers O", _TABLE),
    ("SELECT x.* FROM orders", _TABLE),
    ("SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$')) t", _NOT_PARSED),
    ("SELECT 1", SqlCode.SQL_READS_NO_TABLE),
    ("SELECT NOW() AS at UNION SELECT '2026-01-01'", SqlCode.SQL_READS_NO_TABLE),
    # --- other columns ---
    ("SELECT secret FROM orders", _COLUMN),
    ("SELECT orders.secret FROM orders", _COLUMN),
    ("SELECT shop.orders.secret FROM orders", _NOT_ALLOWED),
    ("SELECT COUNT(secret) FROM orders", _COLUMN),
    ("SELECT id FROM orders WHERE secret LIKE 'a%'", _COLUMN),
    ("SELECT id FROM orders GROUP BY secret", _COLUMN),
    ("SELECT id FROM orders ORDER BY secret", _COLUMN),
    ("SELECT id FROM orders HAVING secret > 1", _COLUMN),
    ("SELECT id FROM orders UNION SELECT id FROM customers ORDER BY secret", _COLUMN),
    ("SELECT id FROM orders ORDER BY 7", _COLUMN),
    ("SELECT o.id FROM orders o WHERE orders.id = 1", _COLUMN),
    (
        "SELECT id FROM customers WHERE EXISTS (SELECT 1 FROM orders customers WHERE customers.name = 'x')",
        _COLUMN,
    ),
    ("SELECT o.id FROM orders o NATURAL JOIN customers c", _NOT_ALLOWED),
    ("SELECT o.id FROM orders o JOIN customers c USING (secret)", _NOT_ALLOWED),
    ("SELECT x.n FROM customers c, (SELECT c.id AS n FROM orders) x", _COLUMN),
    ("SELECT id FROM orders o JOIN customers c ON 1=1", _AMBIGUOUS),
    ("SELECT id FROM (SELECT o.id, c.id FROM orders o, customers c) x", _AMBIGUOUS),
    ("SELECT amount AS a, status AS a FROM orders HAVING a > 1", _AMBIGUOUS),
    ("SELECT SUM(amount) AS id FROM orders GROUP BY id", _AMBIGUOUS),
    ("SELECT amount + 1 AS id FROM orders HAVING id > 2", _AMBIGUOUS),
    # --- no SELECT, or more than one ---
    ("SELECT id FROM orders; DROP TABLE orders", _NOT_ONE),
    ("SELECT id FROM orders;SELECT id FROM orders", _NOT_ONE),
    ("DROP TABLE orders", _NOT_ONE),
    ("INSERT INTO orders (id) VALUES (1)", _NOT_ONE),
    ("SET GLOBAL general_log = 1", _NOT_ONE),
    ("SHOW TABLES", _NOT_ONE),
    ("TABLE orders", _NOT_ONE),
    ("EXPLAIN SELECT id FROM orders", _NOT_ONE),
    ("WITH x AS (DELETE FROM orders) SELECT 1 FROM orders", _NOT_PARSED),
    # --- no SQL ---
    ("", _NOT_PARSED),
    (" \t\n", _NOT_PARSED),
    (")))(((", _NOT_ONE),
    ("SELECT", SqlCode.SQL_NOT_PARSED),
    ("SELECT FROM orders", _NOT_PARSED),
    ("SELECT id FROM", _NOT_PARSED),
    ("SELECT id FROM orders WHERE (", _NOT_PARSED),
    # --- too much ---
    ("SELECT " + "(" * 500 + "1" + ")" * 500 + " FROM orders", _COMPLEX),
    ("SELECT " + "NOT " * 500 + "1 FROM orders", _COMPLEX),
    ("SELECT " + "-(" * 18 + "1" + ")" * 18 + " FROM orders", _COMPLEX),
    ("SELECT " + "*," * 390 + "1 FROM orders", _COMPLEX),
    ("SELECT " + "1," * 600 + "1 FROM orders", _COMPLEX),
    ("SELECT id FROM orders" + " JOIN customers" * 100, _COMPLEX),
    ("SELECT id FROM orders WHERE note = '" + "x" * 4_000 + "'", _COMPLEX),
    ("SELECT '" + "x" * 300 + "' AS a FROM orders HAVING a = 'y'" + " OR a = 'y'" * 90, _COMPLEX),
)
