package main

// entities are the nouns of the invented service.
var entities = []entity{
	{pkg: "booking", name: "Booking", plural: "bookings", doc: "what a customer reserves on a sailing",
		statuses: []string{"Held", "Confirmed", "CheckedIn", "Sailed"},
		fields: []field{
			{"Reference", "string", "reference", "Reference is what the customer reads out at the gate.", "len(x.Reference) < 6", "reference is shorter than 6 characters"},
			{"SailingID", "string", "sailing_id", "SailingID is the departure that this is for.", `x.SailingID == ""`, "booking has no sailing"},
			{"Passengers", "int", "passengers", "Passengers counts people, infants included.", "x.Passengers < 1 || x.Passengers > 60", "passengers must be 1 to 60"},
			{"LaneMeters", "int", "lane_decimeters", "LaneMeters is the deck length of all vehicles, in decimetres.", "x.LaneMeters < 0", "lane length is negative"},
			{"TotalCents", "int64", "total_cents", "TotalCents is the price with tax.", "x.TotalCents < 0", "total is negative"},
			{"Currency", "string", "currency", "Currency is an ISO 4217 code.", `x.Currency == ""`, "currency is missing"},
			{"HeldUntil", "time.Time", "held_until", "HeldUntil is when an unpaid hold lapses.", "", ""},
		},
		special: `// Seats is how many places the booking takes on the passenger deck. Infants
// sit on laps, so they do not count, but they are in the manifest.
func (x *Booking) Seats(infants int) int {
	return x.Passengers - infants
}

// Overlaps tells whether two bookings hold space on the same sailing.
func (x *Booking) Overlaps(y *Booking) bool {
	return x.SailingID == y.SailingID && x.Status != StatusSailed && y.Status != StatusSailed
}

// Expired tells whether a hold has lapsed. A confirmed booking never does.
func (x *Booking) Expired(now time.Time) bool {
	return x.Status == StatusHeld && now.After(x.HeldUntil)
}
`,
		cases: []testCase{{"short reference", `x.Reference = "AB1"`, "ErrReference"}, {"no sailing", `x.SailingID = ""`, "ErrSailingID"}, {"nobody", "x.Passengers = 0", "ErrPassengers"}, {"a whole school", "x.Passengers = 61", "ErrPassengers"}, {"negative lane", "x.LaneMeters = -1", "ErrLaneMeters"}}},
	{pkg: "sailing", name: "Sailing", plural: "sailings", doc: "departures and the room that is left on them",
		statuses: []string{"Planned", "Boarding", "AtSea", "Arrived"},
		fields: []field{
			{"RouteCode", "string", "route_code", "RouteCode names the pair of ports, such as TRD-KRS.", "len(x.RouteCode) != 7", "route code is not XXX-YYY"},
			{"VesselID", "string", "vessel_id", "VesselID is the ship.", `x.VesselID == ""`, "sailing has no vessel"},
			{"DepartsAt", "time.Time", "departs_at", "DepartsAt is the scheduled departure.", "x.DepartsAt.IsZero()", "departure time is missing"},
			{"Seats", "int", "seats", "Seats is the passenger capacity on this trip.", "x.Seats <= 0", "sailing has no seats"},
			{"LaneTotal", "int", "lane_total", "LaneTotal is the car deck in decimetres.", "x.LaneTotal < 0", "car deck is negative"},
			{"SeatsSold", "int", "seats_sold", "SeatsSold counts confirmed and held seats.", "x.SeatsSold < 0", "sold seats are negative"},
			{"LaneSold", "int", "lane_sold", "LaneSold counts confirmed and held decimetres.", "", ""},
		},
		special: `// Room is what can still be sold.
type Room struct {
	Seats int
	Lane  int
}

// Left computes the room that is left. A full ship has none, never less.
func (x *Sailing) Left() Room {
	return Room{Seats: max(0, x.Seats-x.SeatsSold), Lane: max(0, x.LaneTotal-x.LaneSold)}
}

// Fits tells whether a party fits.
func (x *Sailing) Fits(seats, lane int) bool {
	left := x.Left()
	return seats <= left.Seats && lane <= left.Lane
}

// Closed tells whether the gate is shut: 20 minutes before departure for
// vehicles, 10 for foot passengers.
func (x *Sailing) Closed(now time.Time, vehicle bool) bool {
	margin := 10 * time.Minute
	if vehicle {
		margin = 20 * time.Minute
	}
	return now.After(x.DepartsAt.Add(-margin))
}
`,
		cases: []testCase{{"route too long", `x.RouteCode = "TRONDHEIM"`, "ErrRouteCode"}, {"no ship", `x.VesselID = ""`, "ErrVesselID"}, {"no time", "x.DepartsAt = time.Time{}", "ErrDepartsAt"}, {"no seats", "x.Seats = 0", "ErrSeats"}}},
	{pkg: "fare", name: "Fare", plural: "fares", doc: "prices and how they bend with season and demand",
		statuses: []string{"Draft", "Published", "Retired"}, imports: []string{"math"},
		fields: []field{
			{"RouteCode", "string", "route_code", "RouteCode is where the fare applies.", "len(x.RouteCode) != 7", "route code is not XXX-YYY"},
			{"Class", "string", "class", "Class is adult, child, car, van, coach or bicycle.", `x.Class == ""`, "fare has no class"},
			{"BaseCents", "int64", "base_cents", "BaseCents is the low-season price.", "x.BaseCents <= 0", "base price is not positive"},
			{"PeakFactor", "float64", "peak_factor", "PeakFactor multiplies the base in high season.", "x.PeakFactor < 1", "peak factor is below one"},
			{"ValidFrom", "time.Time", "valid_from", "ValidFrom is the first day of validity.", "", ""},
		},
		special: `// Price is what one unit costs when so much of the ship is sold already. The
// last tenth of the room costs a quarter more.
func (x *Fare) Price(peak bool, sold, total int) int64 {
	p := float64(x.BaseCents)
	if peak {
		p *= x.PeakFactor
	}
	if total > 0 && sold*10 >= total*9 {
		p *= 1.25
	}
	return int64(math.Round(p))
}

// Split divides a total among n payers. Cents that are left over go to the
// first ones, so that the shares add up.
func Split(total int64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = total / int64(n)
	}
	for i := range int(total % int64(n)) {
		out[i]++
	}
	return out
}
`,
		cases: []testCase{{"no class", `x.Class = ""`, "ErrClass"}, {"free", "x.BaseCents = 0", "ErrBaseCents"}, {"cheap peak", "x.PeakFactor = 0.8", "ErrPeakFactor"}}},
	{pkg: "vessel", name: "Vessel", plural: "vessels", doc: "the ships and what they can carry",
		statuses: []string{"InService", "Docked", "Sold"},
		fields: []field{
			{"Name", "string", "name", "Name is painted on the bow.", `x.Name == ""`, "vessel has no name"},
			{"CallSign", "string", "call_sign", "CallSign is the radio call sign.", "len(x.CallSign) < 4", "call sign is too short"},
			{"Seats", "int", "seats", "Seats is the certified passenger capacity.", "x.Seats <= 0", "vessel has no seats"},
			{"DeckMeters", "int", "deck_decimeters", "DeckMeters is the car deck in decimetres.", "", ""},
			{"MaxHeight", "int", "max_height_cm", "MaxHeight is the clearance of the car deck.", "x.MaxHeight < 190", "deck clearance is below 190 cm"},
		},
		cases: []testCase{{"nameless", `x.Name = ""`, "ErrName"}, {"short sign", `x.CallSign = "LA"`, "ErrCallSign"}, {"low deck", "x.MaxHeight = 120", "ErrMaxHeight"}}},
	{pkg: "waitlist", name: "Entry", plural: "waitlist_entries", doc: "who wants to come along if room appears",
		statuses: []string{"Waiting", "Offered", "Accepted", "Lapsed"},
		fields: []field{
			{"SailingID", "string", "sailing_id", "SailingID is the departure that is full.", `x.SailingID == ""`, "entry has no sailing"},
			{"Email", "string", "email", "Email is where the offer goes.", `x.Email == ""`, "entry has no address"},
			{"Seats", "int", "seats", "Seats is the size of the party.", "x.Seats < 1", "party is empty"},
			{"Lane", "int", "lane_decimeters", "Lane is the deck length wanted.", "", ""},
			{"Priority", "int", "priority", "Priority is higher for residents.", "", ""},
			{"OfferedAt", "time.Time", "offered_at", "OfferedAt is when room was offered.", "", ""},
		},
		special: `// OfferLapse is how long an offer stands.
const OfferLapse = 45 * time.Minute

// Less orders the list: residents first, then first come, first served.
func Less(a, b *Entry) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.CreatedAt.Before(b.CreatedAt)
}

// Lapsed tells whether an offer was let go.
func (x *Entry) Lapsed(now time.Time) bool {
	return x.Status == StatusOffered && now.Sub(x.OfferedAt) > OfferLapse
}
`,
		cases: []testCase{{"no sailing", `x.SailingID = ""`, "ErrSailingID"}, {"no address", `x.Email = ""`, "ErrEmail"}, {"empty party", "x.Seats = 0", "ErrSeats"}}},
	{pkg: "invoice", name: "Invoice", plural: "invoices", doc: "what customers owe, with tax by line",
		statuses: []string{"Open", "Paid", "Credited"}, imports: []string{"fmt"},
		fields: []field{
			{"Number", "string", "number", "Number is gapless within a year.", `x.Number == ""`, "invoice has no number"},
			{"BookingID", "string", "booking_id", "BookingID is what is billed.", `x.BookingID == ""`, "invoice has no booking"},
			{"NetCents", "int64", "net_cents", "NetCents is the sum before tax.", "x.NetCents < 0", "net is negative"},
			{"TaxPermille", "int", "tax_permille", "TaxPermille is the rate, 250 for 25 %.", "x.TaxPermille < 0 || x.TaxPermille > 500", "tax rate is out of range"},
			{"DueAt", "time.Time", "due_at", "DueAt is the last day to pay.", "", ""},
		},
		special: `// Tax is the tax on the net sum.
func (x *Invoice) Tax() int64 {
	return x.NetCents * int64(x.TaxPermille) / 1000
}

// Gross is what is to be paid.
func (x *Invoice) Gross() int64 { return x.NetCents + x.Tax() }

// NextNumber follows a number such as 2026-000147.
func NextNumber(year, last int) string {
	return fmt.Sprintf("%04d-%06d", year, last+1)
}
`,
		cases: []testCase{{"no number", `x.Number = ""`, "ErrNumber"}, {"no booking", `x.BookingID = ""`, "ErrBookingID"}, {"silly tax", "x.TaxPermille = 700", "ErrTaxPermille"}}},
	{pkg: "refund", name: "Refund", plural: "refunds", doc: "money that goes back, and why",
		statuses: []string{"Requested", "Approved", "Sent"},
		fields: []field{
			{"InvoiceID", "string", "invoice_id", "InvoiceID is what was paid.", `x.InvoiceID == ""`, "refund has no invoice"},
			{"AmountCents", "int64", "amount_cents", "AmountCents goes back to the payer.", "x.AmountCents <= 0", "refund is not positive"},
			{"Reason", "string", "reason", "Reason is weather, cancelled, goodwill or duplicate.", `x.Reason == ""`, "refund has no reason"},
			{"DecidedBy", "string", "decided_by", "DecidedBy is the clerk, or auto.", "", ""},
		},
		special: `// Share is the part of the price that a customer gets back when cancelling so
// long before departure: all of it up to 48 hours, half up to 6, then nothing.
func Share(before time.Duration) float64 {
	switch {
	case before >= 48*time.Hour:
		return 1
	case before >= 6*time.Hour:
		return 0.5
	}
	return 0
}
`,
		cases: []testCase{{"no invoice", `x.InvoiceID = ""`, "ErrInvoiceID"}, {"zero", "x.AmountCents = 0", "ErrAmountCents"}, {"no reason", `x.Reason = ""`, "ErrReason"}}},
	{pkg: "notice", name: "Notice", plural: "notices", doc: "mails and texts to passengers",
		statuses: []string{"Queued", "Sent", "Bounced"},
		fields: []field{
			{"BookingID", "string", "booking_id", "BookingID is who it is about.", `x.BookingID == ""`, "notice has no booking"},
			{"Channel", "string", "channel", "Channel is mail or sms.", `x.Channel != "mail" && x.Channel != "sms"`, "channel is neither mail nor sms"},
			{"Template", "string", "template", "Template names the text.", `x.Template == ""`, "notice has no template"},
			{"Locale", "string", "locale", "Locale is a BCP 47 tag.", "len(x.Locale) < 2", "locale is missing"},
			{"Attempts", "int", "attempts", "Attempts counts deliveries tried.", "x.Attempts < 0", "attempts are negative"},
			{"NextTry", "time.Time", "next_try", "NextTry is when the sender looks again.", "", ""},
		},
		special: `// Backoff is the pause before the next attempt: it doubles from 30 seconds up
// to 2 hours.
func Backoff(attempt int) time.Duration {
	d := 30 * time.Second << attempt
	if d > 2*time.Hour {
		d = 2 * time.Hour
	}
	return d
}
`,
		cases: []testCase{{"pigeon", `x.Channel = "pigeon"`, "ErrChannel"}, {"no template", `x.Template = ""`, "ErrTemplate"}, {"no locale", `x.Locale = ""`, "ErrLocale"}}},
	{pkg: "port", name: "Port", plural: "ports", doc: "quays, their berths and their opening hours",
		statuses: []string{"Active", "Seasonal", "Closed"},
		fields: []field{
			{"Code", "string", "code", "Code is three letters.", "len(x.Code) != 3", "port code is not three letters"},
			{"Name", "string", "name", "Name in the local language.", `x.Name == ""`, "port has no name"},
			{"Berths", "int", "berths", "Berths counts ships that can lie at once.", "x.Berths < 1", "port has no berth"},
			{"Latitude", "float64", "latitude", "Latitude in degrees.", "x.Latitude < -90 || x.Latitude > 90", "latitude is out of range"},
			{"Longitude", "float64", "longitude", "Longitude in degrees.", "x.Longitude < -180 || x.Longitude > 180", "longitude is out of range"},
		},
		cases: []testCase{{"long code", `x.Code = "TROND"`, "ErrCode"}, {"no berth", "x.Berths = 0", "ErrBerths"}, {"off the map", "x.Latitude = 91", "ErrLatitude"}}},
}
