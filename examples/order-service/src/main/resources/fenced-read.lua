-- Reads the stock of an item and leaves the token: from here on no former owner of its lock writes. The same that the README does in SQL.
-- KEYS[1] hash of the stock: amount, and the highest token that has read
-- ARGV[1] fencing token
-- Returns the amount, 0 for what nobody has heard of; -1 when a later owner has read. Cost: O(1).
local seen = tonumber(redis.call('hget', KEYS[1], 'token') or '0')
if tonumber(ARGV[1]) < seen then
  return -1
end
redis.call('hset', KEYS[1], 'token', ARGV[1])
return tonumber(redis.call('hget', KEYS[1], 'amount') or '0')
