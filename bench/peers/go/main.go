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
	"sync/atomic"
	"syscall"
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
	rateNs         = 5000000000
	rateTaskNs     = 1000000
	rwlockTurns    = 10000000
	semTurns       = 10000000
	selectTrips    = 300000
	futureTurns    = 1000000
	waitgroupTurns = 20000000
	onceTurns      = 100000000
	poolTurns      = 5000000
	timersNr       = 100000
	chainLinks     = 512
	chains         = 500
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

func rwlock(workers int) {
	var group sync.WaitGroup
	var lock sync.RWMutex
	nr := size(rwlockTurns)
	start := time.Now()
	for w := 0; w < workers; w++ {
		group.Add(1)
		go func() {
			for i := 0; i < nr; i++ {
				lock.RLock()
				lock.RUnlock()
			}
			group.Done()
		}()
	}
	group.Wait()
	reportEach("ns", start, workers*nr)
	check(lock.TryLock(), "everybody unlocked")
}

func sem() {
	nr, right := size(semTurns), 0
	units := make(chan struct{}, 1)
	start := time.Now()
	for i := 0; i < nr; i++ {
		units <- struct{}{}
		right++
		<-units
	}
	reportEach("ns", start, nr)
	check(right == nr && len(units) == 0, "turns")
}

func selecting() {
	nr, right := size(selectTrips), 0
	ask := [2]chan uint64{make(chan uint64), make(chan uint64)}
	answer := make(chan uint64)
	start := time.Now()
	go func() {
		for i := 0; i < nr; i++ {
			select {
			case a := <-ask[0]:
				answer <- a + 1
			case b := <-ask[1]:
				answer <- b + 1
			}
		}
	}()
	for i := 0; i < nr; i++ {
		ask[i&1] <- uint64(i)
		if <-answer == uint64(i)+1 {
			right++
		}
	}
	reportEach("ns", start, nr)
	check(right == nr, "answers")
}

func future() {
	nr, sum := size(futureTurns), uint64(0)
	start := time.Now()
	for i := 0; i < nr; i++ {
		promise := make(chan uint64, 1)
		value := uint64(i)
		go func() { promise <- value }()
		sum += <-promise
	}
	reportEach("ns", start, nr)
	check(sum == uint64(nr)*uint64(nr-1)/2, "sum of the values")
}

func waitgroup() {
	var group sync.WaitGroup
	nr := size(waitgroupTurns)
	start := time.Now()
	for i := 0; i < nr; i++ {
		group.Add(1)
		group.Done()
	}
	reportEach("ns", start, nr)
	group.Wait()
}

func once() {
	var one sync.Once
	nr, times := size(onceTurns), 0
	start := time.Now()
	for i := 0; i < nr; i++ {
		one.Do(func() { times++ })
	}
	reportEach("ns", start, nr)
	check(times == 1, "times")
}

func stock() {
	nr, right := size(poolTurns), 0
	objects := sync.Pool{New: func() any { return new([64]byte) }}
	start := time.Now()
	for i := 0; i < nr; i++ {
		object := objects.Get().(*[64]byte)
		object[0]++
		right++
		objects.Put(object)
	}
	reportEach("ns", start, nr)
	check(right == nr, "objects")
}

// Goroutines that wait for a channel to be closed, with a timer each.
func armAndCancel(nr int) {
	var group, armed sync.WaitGroup
	var woken int64
	done := make(chan struct{})
	group.Add(nr)
	armed.Add(nr)
	for i := 0; i < nr; i++ {
		nth := uint64(i)
		go func() {
			away := time.Hour + time.Duration(
				nth*2654435761%1000003)*time.Millisecond
			timer := time.NewTimer(away)
			armed.Done()
			select {
			case <-done:
				timer.Stop()
				atomic.AddInt64(&woken, 1)
			case <-timer.C:
			}
			group.Done()
		}()
	}
	armed.Wait()
	close(done)
	group.Wait()
	check(woken == int64(nr), "woken")
}

func timers() {
	nr := size(timersNr)
	armAndCancel(nr)
	start := time.Now()
	armAndCancel(nr)
	reportEach("ns", start, nr)
}

func chain() {
	var group sync.WaitGroup
	var events [chainLinks + 1]chan struct{}
	for i := range events {
		events[i] = make(chan struct{})
	}
	group.Add(chainLinks)
	for i := chainLinks - 1; i >= 0; i-- {
		before, mine := events[i], events[i+1]
		go func() {
			<-before
			close(mine)
			group.Done()
		}()
	}
	close(events[0])
	<-events[chainLinks]
	group.Wait()
}

func eventChain() {
	nr := size(chains)
	chain()
	start := time.Now()
	for i := 0; i < nr; i++ {
		chain()
	}
	us := float64(time.Since(start).Nanoseconds()) / 1e3
	fmt.Printf("us %.6g\n", us/float64(nr))
}

func cpuNow() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// Percent of a core; without @ran, without the goroutines.
func ticks(nr int, ran *int64) float64 {
	cpu, start := cpuNow(), time.Now()
	for i := 1; i <= nr; i++ {
		time.Sleep(time.Until(start.Add(
			time.Duration(i) * rateTaskNs)))
		if ran != nil {
			go func() { atomic.AddInt64(ran, 1) }()
		}
	}
	return float64(cpuNow()-cpu) * 100 /
		float64(time.Since(start).Nanoseconds())
}

func rate() {
	var ran int64
	nr := rateNs / rateTaskNs
	if quick {
		nr = 50
	}
	bare := ticks(nr, nil)
	busy := ticks(nr, &ran)
	time.Sleep(10 * time.Millisecond)
	fmt.Printf("busy_pct %.6g\nraw_pct %.6g\n", busy-bare, busy)
	check(atomic.LoadInt64(&ran) == int64(nr), "goroutines that ran")
}

// Other files add theirs.
var rows = map[string]func(){
	"spawn": spawn, "yield": yield, "chan": channel,
	"fanin": fanin, "mutex": mutex, "cond": cond, "sem": sem,
	"select": selecting, "future": future, "once": once,
	"waitgroup": waitgroup, "stock": stock, "timers": timers,
	"event-chain": eventChain, "rate": rate,
	"fib": fibRow, "coarse": coarse, "skynet": skynetRow,
	"nqueens": nqueens, "uts": uts, "matmul": matmul,
	"for-tiny": forTiny, "for-saxpy": forSaxpy,
	"reduce": reduce, "scan": scan,
	"rwlock": func() { rwlock(runtime.GOMAXPROCS(0)) },
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: go-peer ROW WORKERS [quick]")
		os.Exit(2)
	}
	if os.Args[1] == "http-serve" {
		serveHTTP(os.Args[2], os.Args[3:])
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
