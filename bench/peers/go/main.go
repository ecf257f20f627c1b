// SPDX-License-Identifier: MIT

// The peer Go: its goroutines and channels, with GOMAXPROCS as the number of
// workers.  It takes ROW WORKERS [quick] and prints "metric value" lines, as
// the programs in C do; the sizes are those of sizes.h.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const (
	spawnBatch     = 1000
	spawnBatches   = 2000
	yieldTurns     = 2000000
	chanTrips      = 500000
	faninProducers = 8
	faninCapacity  = 1024
	faninEach      = 250000
	mutexTurns     = 20000000
	condTrips      = 500000
	skip           = 77
)

var quick bool

func size(full int) int {
	if !quick {
		return full
	}
	if full/1000 < 10 {
		return 10
	}
	return full / 1000
}

func check(ok bool, what string) {
	if !ok {
		fmt.Fprintf(os.Stderr, "go: row %s: wrong result: %s\n",
			os.Args[1], what)
		os.Exit(1)
	}
}

func reportEach(metric string, start time.Time, items int) {
	ns := float64(time.Since(start).Nanoseconds())
	fmt.Printf("%s %.6g\n", metric, ns/float64(items))
}

func spawnSome(batches int, ran []uint32) {
	var group sync.WaitGroup
	for i := 0; i < batches; i++ {
		group.Add(spawnBatch)
		for j := 0; j < spawnBatch; j++ {
			mine := &ran[j]
			go func() {
				*mine++
				group.Done()
			}()
		}
		group.Wait()
	}
}

func spawn() {
	batches := size(spawnBatches)
	ran := make([]uint32, spawnBatch)
	spawnSome(batches/10, ran)
	start := time.Now()
	spawnSome(batches, ran)
	reportEach("ns", start, batches*spawnBatch)
	for _, n := range ran {
		check(int(n) == batches/10+batches, "tasks that ran")
	}
}

func yield() {
	var group sync.WaitGroup
	nr := size(yieldTurns)
	turns := [2]int{}
	start := time.Now()
	for i := range turns {
		mine := &turns[i]
		group.Add(1)
		go func() {
			for ; *mine < nr; *mine++ {
				runtime.Gosched()
			}
			group.Done()
		}()
	}
	group.Wait()
	reportEach("ns", start, 2*nr)
	check(turns[0] == nr && turns[1] == nr, "turns")
}

func pingPong(metric string, capacity int) {
	nr, right := size(chanTrips), 0
	to := make(chan uint64, capacity)
	fro := make(chan uint64, capacity)
	start := time.Now()
	go func() {
		for i := 0; i < nr; i++ {
			fro <- 1 + <-to
		}
	}()
	for i := 0; i < nr; i++ {
		to <- uint64(i)
		if <-fro == uint64(i)+1 {
			right++
		}
	}
	reportEach(metric, start, nr)
	check(right == nr, "values that came back")
}

func channel() {
	pingPong("ns", 0)
	pingPong("buffered_ns", 1)
}

func fanin() {
	each, sum := size(faninEach), uint64(0)
	mailbox := make(chan uint64, faninCapacity)
	start := time.Now()
	for p := 0; p < faninProducers; p++ {
		go func() {
			for i := 0; i < each; i++ {
				mailbox <- uint64(i)
			}
		}()
	}
	for i := 0; i < faninProducers*each; i++ {
		sum += <-mailbox
	}
	reportEach("ns", start, faninProducers*each)
	one := uint64(each) * uint64(each-1) / 2
	check(sum == faninProducers*one, "sum of the messages")
}

func mutex() {
	var lock sync.Mutex
	nr, count := size(mutexTurns), 0
	start := time.Now()
	for i := 0; i < nr; i++ {
		lock.Lock()
		count++
		lock.Unlock()
	}
	reportEach("ns", start, nr)
	check(count == nr, "turns")
}

func cond() {
	var group sync.WaitGroup
	var lock sync.Mutex
	nr, trips, turn := size(condTrips), 0, 0
	changed := sync.NewCond(&lock)
	start := time.Now()
	for me := 0; me < 2; me++ {
		group.Add(1)
		go func(me int) {
			lock.Lock()
			for i := 0; i < nr; i++ {
				for turn != me {
					changed.Wait()
				}
				turn = 1 - me
				trips++
				changed.Signal()
			}
			lock.Unlock()
			group.Done()
		}(me)
	}
	group.Wait()
	reportEach("ns", start, nr)
	check(trips == 2*nr, "trips")
}

func main() {
	rows := map[string]func(){
		"spawn": spawn, "yield": yield, "chan": channel,
		"fanin": fanin, "mutex": mutex, "cond": cond,
	}
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: go-peer ROW WORKERS [quick]")
		os.Exit(2)
	}
	workers, err := strconv.Atoi(os.Args[2])
	row, known := rows[os.Args[1]]
	if err != nil || workers < 1 || !known {
		fmt.Fprintf(os.Stderr, "go: has no row %s\n", os.Args[1])
		os.Exit(skip)
	}
	quick = len(os.Args) > 3 && os.Args[3] == "quick"
	runtime.GOMAXPROCS(workers)
	row()
}
