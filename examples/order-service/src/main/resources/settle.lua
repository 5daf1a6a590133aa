-- Ends a reservation, for the owner that claimed the stock last: the items are sold, or go back into the stock. A second run changes nothing.
-- KEYS[1] hash of the stock   KEYS[2] hash of the reservations   KEYS[3] hash of the sold orders   KEYS[4] list of the sales
-- ARGV[1] fencing token   ARGV[2] order id   ARGV[3] 'sold' or 'refused'
-- Returns false when a later owner has claimed. Cost: O(1).
if redis.call('hget', KEYS[1], 'token') ~= ARGV[1] then
  return false
end
local receipt = redis.call('hget', KEYS[2], ARGV[2])
if not receipt then
  return true
end
redis.call('hdel', KEYS[2], ARGV[2])
local quantity, left, token = receipt:match('(%S+) (%S+) (%S+)')
if ARGV[3] == 'sold' then
  redis.call('hset', KEYS[3], ARGV[2], receipt)
  redis.call('rpush', KEYS[4], token .. ' ' .. quantity .. ' ' .. ARGV[2])
else
  redis.call('hincrby', KEYS[1], 'amount', quantity)
end
return true
