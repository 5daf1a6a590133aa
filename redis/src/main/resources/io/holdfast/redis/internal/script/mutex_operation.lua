-- One operation, or several first attempts for one lock. Included by mutex.lua, never run alone.

local parts
function granting()
  if not parts then
    --#include holding.lua
    --#include grants.lua
    --#include mutex_grants.lua
    parts = {operate_on = operate_on, record_alone = record_alone, rest = rest}
  end
  return parts
end

-- Several first attempts: the answers are in the list, and nil is returned if a queue has taken them.
function operate(key, text, i, last)
  local id, what, number, note, words = ARGV[4 * i - 3], byte(ARGV[4 * i - 2]), sub(ARGV[4 * i - 2], 2), ARGV[4 * i - 1], ARGV[4 * i]
  local is_attempt, answer = what == 65 or what == 84 or what == 97, nil
  keys = {key, key .. ':queue', key .. ':claims', key .. ':held', key .. ':gone', key .. ':interest', key .. ':aside'}
  unreachable, is_ending = {}, not is_attempt
  local failure = read_record(text)
  if failure then
    local is_foreign = find(failure.err or failure, '^FOREIGN') or find(failure.err or failure, 'WRONGTYPE', 1, true)
    return (is_attempt or not is_foreign) and failure or 0
  end
  if is_alone then
    return granting().record_alone(id, is_attempt, number, note, words)
  end
  local own = is_attempt and match(note, '^%d+ %d+ (%S+)') or note
  if has_flag(4) and own ~= '-' and call('ZRANGEBYLEX', keys[7], '[' .. own .. ' ', '(' .. own .. '!', 'LIMIT', 0, 1)[1] then
    granting().rest().trust(own)
  end
  local is_usual = holder and ends > now
  if what == 65 and is_usual and find(words, 'queue', 1, true) == 1 then
    answer = join(i, last, answers)
  elseif what == 65 and i == last and is_usual and not has_flag(2) and find(words, 'none', 1, true) == 1 and holder ~= id then
    answer = {3, ms_of((ends - now) / 1000 + 10, number / 3)}
  else
    answer = granting().operate_on(i, last, what, number, own, is_usual)
  end
  if holder and ends % 2 == 0 and channel == own and since < now then -- the client calls after the grant: it lives
    try('SETRANGE', key, 18, ends % 10 + 1)
  end
  return answer
end
