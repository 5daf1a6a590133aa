-- Writes the stock of an item for the owner whose token the read has left, unless a later one has read since.
-- KEYS[1] hash of the stock: amount, and the highest token that has read   KEYS[2] list of the sales
-- ARGV[1] fencing token   ARGV[2] amount   ARGV[3] the sale, or empty
-- Returns true when written. Cost: O(1).
if redis.call('hget', KEYS[1], 'token') ~= ARGV[1] then
  return false
end
redis.call('hset', KEYS[1], 'amount', ARGV[2])
if ARGV[3] ~= '' then
  redis.call('rpush', KEYS[2], ARGV[3])
end
return true
