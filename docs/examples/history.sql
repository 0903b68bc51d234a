-- Eleven questions to the tables of a cluster's history. Each begins with a line "-- N. question"; all are Spark's SQL.

-- 1. Which brokers were the fullest, and when?
SELECT broker, max(greatest(cpu, bandwidth_in, bandwidth_out)) AS most, max_by(time, greatest(cpu, bandwidth_in, bandwidth_out)) AS at
FROM loads WHERE bundle IS NULL GROUP BY broker ORDER BY most DESC, broker;

-- 2. How uneven was the load in each hour?
SELECT date_trunc('hour', time) AS hour, max(msg_rate_in + msg_rate_out) / avg(msg_rate_in + msg_rate_out) AS imbalance
FROM loads WHERE bundle IS NULL GROUP BY 1 ORDER BY 1;

-- 3. Which bundles carry the most?
SELECT bundle, avg(msg_rate_in + msg_rate_out) AS rate FROM loads WHERE bundle IS NOT NULL GROUP BY bundle ORDER BY rate DESC, bundle LIMIT 10;

-- 4. Which namespaces grew the most from the first day to the last?
WITH days AS (
  SELECT regexp_extract(bundle, '^(.*)/', 1) AS namespace, day, sum(msg_rate_in) / count(DISTINCT time) AS rate
  FROM loads WHERE bundle IS NOT NULL GROUP BY 1, 2)
SELECT namespace, max_by(rate, day) / min_by(rate, day) AS growth FROM days GROUP BY namespace ORDER BY growth DESC, namespace;

-- 5. Which bundles were moved most often, and by whom?
SELECT bundle, count(*) AS moves, collect_set(reason) AS reasons FROM decisions WHERE kind = 'unload' GROUP BY bundle ORDER BY moves DESC, bundle;

-- 6. Which bundles came back to a broker that they had left within the hour?
SELECT one.bundle, one.`from` AS broker, one.time AS went, other.time AS came_back
FROM decisions AS one JOIN decisions AS other
  ON other.bundle = one.bundle AND other.`to` = one.`from` AND other.time > one.time AND other.time <= one.time + INTERVAL 1 HOUR
WHERE one.kind = 'unload' AND other.kind = 'unload' ORDER BY went, one.bundle;

-- 7. Did each move make its source emptier than its destination had been?
SELECT moves.time, moves.bundle, before.cpu AS source_before, other.cpu AS destination_before
FROM decisions AS moves
JOIN loads AS before ON before.broker = moves.`from` AND before.bundle IS NULL AND before.time = date_trunc('minute', moves.time)
JOIN loads AS other ON other.broker = moves.`to` AND other.bundle IS NULL AND other.time = before.time
WHERE moves.kind = 'unload' ORDER BY moves.time, moves.bundle;

-- 8. Do brokers agree on each version of a service unit's record?
SELECT subject, fields['version'] AS version, count(DISTINCT fields['dst']) AS owners
FROM events WHERE event = 'handled' AND fields['state'] = 'Owned' GROUP BY 1, 2 HAVING owners > 1 ORDER BY 1, 2;

-- 9. Which ledgers refused adds, and how long after they were fenced?
SELECT fenced.subject AS ledger, min(refused.time) - min(fenced.time) AS after
FROM events AS fenced JOIN events AS refused ON refused.subject = fenced.subject AND refused.protocol = fenced.protocol
WHERE fenced.event = 'fenced' AND refused.event = 'refused' GROUP BY fenced.subject ORDER BY ledger;

-- 10. What could not be read, and why?
SELECT reason, count(DISTINCT source) AS files, sum(lines) AS lines, min(source) AS first
FROM quarantine WHERE kind = 'unread' GROUP BY reason ORDER BY lines DESC, reason;

-- 11. Which settings changed, where, and when?
WITH said AS (
  SELECT kind, name, setting, time, value, lag(value) OVER (PARTITION BY cluster, kind, name, setting ORDER BY time) AS before FROM settings)
SELECT time, kind, name, setting, before, value FROM said WHERE before <> value ORDER BY time, kind, name, setting;
