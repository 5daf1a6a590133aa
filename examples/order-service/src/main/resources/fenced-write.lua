-- Writes the stock of an item, unless a later owner of its lock has written: the same that the README does in SQL.
-- KEYS[1] hash of the stock: amount, and the highest token seen   KEYS[2] list of the sales
-- ARGV[1] fencing token   ARGV[2] amount   ARGV[3] the sale, or empty
-- Returns true when written. Cost: O(1).
local seen = tonumber(redis.call('hget', KEYS[1], 'token') or '0')
if tonumber(ARGV[1]) < seen then
  return false
end
redis.call('hset', KEYS[1], 'amount', ARGV[2], 'token', ARGV[1])
if ARGV[3] ~= '' then
  redis.call('rpush', KEYS[2], ARGV[3])
end
return true
