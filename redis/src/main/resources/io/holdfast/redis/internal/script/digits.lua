-- Writes numbers as text. Included, never run alone. '..' loses digits, and '%.0f' of a large number costs more than a
-- call inside.
local function digits(number)
  return number < 1000000 and format('%d', number) or format('%d%06d', number / 1000000, number % 1000000)
end
