create table customer (id varchar primary key, balance bigint not null, token bigint not null);
create table charge (
    customer varchar not null, id varchar not null, token bigint not null, amount bigint not null, balance bigint not null,
    primary key (customer, id), unique (customer, token));
create table night_book (done date not null, token bigint not null); -- one row
create table night_run (night date not null, instance varchar not null, token bigint not null);
create table statement (
    night date not null, customer varchar not null, balance bigint not null, headroom bigint not null,
    primary key (night, customer));
insert into night_book values (date '2000-01-01', 0);
