create table orders (
  id bigserial primary key,
  number bigint not null,
  job bigint unique,
  at timestamptz not null default now()
);
