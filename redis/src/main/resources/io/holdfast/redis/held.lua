-- Whether claims still hold their mutexes. Writes nothing, so no lease gets longer by it.
--
-- KEYS    the holder keys P{name}:mutex, one per claim, all in one slot on a cluster
-- ARGV    the id of each claim, in the order of the keys
-- Result  one number per claim: 1 held, 0 not held by this claim, or a foreign key
-- Cost    1 inner call per claim, O(1) each

local answers = {}
for i, key in ipairs(KEYS) do
  answers[i] = redis.pcall('HGET', key, 'id') == ARGV[i] and 1 or 0
end
return answers
