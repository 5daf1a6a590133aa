create table if not exists stock (item text primary key, amount integer not null check (amount >= 0));
-- An unpaid order is a reservation: its items are taken out of the stock.
create table if not exists orders (id text primary key, item text not null, quantity integer not null, token bigint not null, paid boolean not null);
create index if not exists reservations on orders (item) where not paid;
