import { type Sql, withTimeout } from '../database.ts';

export interface Product {
  readonly productId: number;
  readonly title: string;
}

/** The products of a shop's subscriptions, by id. Reads one line of each. */
export function listProducts(sql: Sql, shopId: number, limit: number): Promise<Product[]> {
  return withTimeout(sql<Product[]>`
    with recursive products as (
      (
        select product_id, product_title from subscription_lines
        where shop_id = ${shopId} order by product_id limit 1
      )
      union all
      select next.product_id, next.product_title
      from products p
      cross join lateral (
        select product_id, product_title from subscription_lines
        where shop_id = ${shopId} and product_id > p.product_id
        order by product_id limit 1
      ) next
    )
    select product_id as "productId", product_title as title from products limit ${limit}`);
}
