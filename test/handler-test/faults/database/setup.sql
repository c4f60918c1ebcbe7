create table orders (
  id bigserial primary key,
  number bigint not null,
  job bigint unique,
  at timestamptz not null default now()
);
create table accounts (name text primary key, cents bigint not null);
insert into accounts values ('shop', 0), ('customer', 10000);
create table payments (job bigint primary key);
