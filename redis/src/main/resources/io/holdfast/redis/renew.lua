-- Sets the expiry of held mutexes anew, each with its own lease. Never creates.
--
-- KEYS    the holder keys P{name}:mutex, one per claim, all in one slot on a cluster
-- ARGV    id and lease in ms of each claim, in the order of the keys
-- Result  one number per claim: 1 renewed, 0 not held by this claim; a foreign key is not held
-- Cost    2 inner calls per claim, O(1) each

local answers = {}
for i, key in ipairs(KEYS) do
  -- pcall: one foreign key must not fail the others. Any other error concerns all of them.
  local owner = redis.pcall('HGET', key, 'id')
  if type(owner) == 'table' and not string.find(owner.err, 'WRONGTYPE', 1, true) then
    return owner
  end
  local held = owner == ARGV[2 * i - 1]
  if held then
    redis.call('PEXPIRE', key, ARGV[2 * i])
  end
  answers[i] = held and 1 or 0
end
return answers
