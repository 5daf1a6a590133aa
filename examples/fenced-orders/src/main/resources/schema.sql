create table if not exists stock (item text primary key, amount integer not null check (amount >= 0));
create table if not exists orders (id text primary key, item text not null, quantity integer not null, token bigint not null);
