-- Stores the token beside the stock of an item: from here on, no former owner of its lock writes. The README does the same in SQL.
-- KEYS[1] hash of the stock: amount, and the highest token of an owner that has claimed it
-- ARGV[1] fencing token
-- Returns false when a later owner has claimed. Cost: O(1).
local seen = tonumber(redis.call('hget', KEYS[1], 'token') or '0')
if tonumber(ARGV[1]) < seen then
  return false
end
redis.call('hset', KEYS[1], 'token', ARGV[1])
return true
