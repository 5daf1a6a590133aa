-- Tries each command that the scripts of locks use, and returns the refused ones.
-- KEYS: four keys   ARGV: a channel, the time in ms after which the keys end
local refused = {}
local function try(...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer.err then refused[#refused + 1] = (...) .. ' (' .. answer.err .. ')' end
end
local h, z, s, l = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
try('time') try('exists', h) try('del', h)
try('hset', h, 'a', 1) try('pexpire', h, ARGV[2]) try('pttl', h) try('hget', h, 'a') try('hmget', h, 'a', 'b')
try('hsetnx', h, 'b', 1) try('hlen', h) try('hrandfield', h) try('hdel', h, 'b')
try('zadd', z, 1, 'a', 2, 'b') try('pexpire', z, ARGV[2]) try('zcard', z) try('zrange', z, 0, -1) try('zrank', z, 'a')
try('zscore', z, 'a') try('zmscore', z, 'a', 'b') try('zrangebyscore', z, '-inf', '+inf') try('zrangebylex', z, '-', '+')
try('zrandmember', z) try('zremrangebyrank', z, 5, 6) try('zremrangebyscore', z, 5, 6) try('zrem', z, 'b')
try('set', s, 'v', 'px', ARGV[2]) try('get', s) try('setrange', s, 0, 'w')
try('rpush', l, 'a', 'b') try('pexpire', l, ARGV[2]) try('ltrim', l, 0, 5) try('lpos', l, 'a') try('llen', l) try('lrange', l, 0, -1)
try('publish', ARGV[1], 'x') try('pubsub', 'numsub', ARGV[1])
redis.pcall('del', h, z, s, l)
return table.concat(refused, ', ')
