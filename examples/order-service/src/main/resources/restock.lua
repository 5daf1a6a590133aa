-- Sets the stock of an item, for the owner that claimed the stock last.
-- KEYS[1] hash of the stock
-- ARGV[1] fencing token   ARGV[2] amount
-- Returns false when a later owner, or no owner, has claimed. Cost: O(1).
if redis.call('hget', KEYS[1], 'token') ~= ARGV[1] then
  return false
end
redis.call('hset', KEYS[1], 'amount', ARGV[2])
return true
