-- Takes the items of an order out of the stock, for the owner that claimed the stock last. A second run changes nothing: a driver repeats commands
-- after a reconnect.
-- KEYS[1] hash of the stock   KEYS[2] hash of the reservations   KEYS[3] hash of the sold orders
-- ARGV[1] fencing token   ARGV[2] order id   ARGV[3] quantity
-- Returns the receipt: quantity, amount left and token; or 'stale' when a later owner has claimed; or 'sold out'. Cost: O(1).
if redis.call('hget', KEYS[1], 'token') ~= ARGV[1] then
  return 'stale'
end
local before = redis.call('hget', KEYS[2], ARGV[2]) or redis.call('hget', KEYS[3], ARGV[2])
if before then
  return before
end
local left = tonumber(redis.call('hget', KEYS[1], 'amount') or '0') - tonumber(ARGV[3])
if left < 0 then
  return 'sold out'
end
local receipt = ARGV[3] .. ' ' .. left .. ' ' .. ARGV[1]
redis.call('hset', KEYS[1], 'amount', left)
redis.call('hset', KEYS[2], ARGV[2], receipt)
return receipt
