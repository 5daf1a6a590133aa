-- How claims join the queue of a held mutex. Included by mutex.lua after record.lua and usual.lua, never run alone.

local granting -- what joins do not need; defined on first use: each definition costs the server a part of a microsecond

-- First attempts at a held lock, the operations first to last of this call: they join the queue by one command of each kind. Most differ in their ids only.
local function join(first, last, answers)
  local ids, pairs_, longest = {}, {}, 0
  for i = first, last do
    ids[i - first + 1] = ARGV[4 * i - 3]
  end
  ids[#ids + 1] = '"'
  local known, gone, count = call('HMGET', keys[3], unpack(ids)), has_flag(2) and call('ZMSCORE', keys[5], unpack(ids)), call('ZCARD', keys[2])
  local has_left = size > 1 and known[#ids] == digits(token - size + 1) -- a member of this run: its attempt may be repeated
  local left, asked, limit = math.max(0, ends - now) / 1000, ' 1 ' .. now_digits .. ' ' .. now_digits, 0
  local note, words, its_lease, claim_ms, entry
  for i = first, last do
    local at, n = 4 * i, i - first + 1
    if note ~= ARGV[at - 1] or words ~= ARGV[at] then
      note, words = ARGV[at - 1], ARGV[at]
      local lease_digits, own, its_client = match(note, '^1 (%d+) (%S+) (%S+)$')
      local most, floor, ms, secret = match(words, '^queue:?(%d*) (%d+) (%d+) (%S+)$')
      limit, its_lease, claim_ms = tonumber(most) or 0, tonumber(lease_digits), ms
      entry = lease_digits .. ' ' .. its_client .. ' ' .. floor .. ' ' .. own .. ' - ' .. secret .. asked
      longest = math.max(longest, its_lease)
    end
    if known[n] or gone and gone[n] or holder == ids[n] or has_left and call('LPOS', keys[4], ids[n]) then
      answers[i] = granting().rest().acquire(ids[n], note, words)
    elseif limit > 0 and count >= limit then
      answers[i] = {4, count}
    else
      pairs_[#pairs_ + 1], pairs_[#pairs_ + 2] = ids[n], entry
      count = count + 1
      local pause = ms_of(left + 10 * math.min(count, 100), its_lease / 3)
      answers[i] = {2, count < 3 and ms_of(pause, claim_ms) or pause}
    end
  end
  if pairs_[1] then
    enqueue(pairs_, longest)
  end
  if now % 16 <= last - first and (limit > 0 and not pairs_[1] or count > 64 or call('HLEN', keys[3]) > count + 16) then
    granting().rest().sweep_some(math.max(16, last - first + 1) * (pairs_[1] and 2 or 4))
  end
end
