package main

import (
	"context"
	"flag"
	"fmt"
	"os"
)

func main() {
	sealed := flag.Bool("sealed", false, "judge the half of pairs and questions that is kept from making rules")
	flag.Parse()
	if err := run(context.Background(), *sealed); err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, sealed bool) error {
	c, err := judgePairs(ctx, sealed)
	if err != nil {
		return err
	}
	for _, m := range c.missed {
		fmt.Println("missed:", m)
	}
	for _, m := range c.alarmed {
		fmt.Println("false alarm:", m)
	}
	fmt.Printf("planted contradictions found: %d of %d; false alarms: %d on %d near misses\n", c.found, c.planted, c.alarms, c.near)
	return nil
}
